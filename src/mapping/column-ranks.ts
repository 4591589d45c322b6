/**
 * Ranks several columns of one kind by the other words of their names: a work email before a private one, a
 * direct number before the switchboard.
 */
import type { HeaderReading } from './column-names.ts';
import type { HeaderToken } from './column-words.ts';

/** Tokens with their ranks, in order of precedence; `null`: not the subject's own. */
type Ranks = readonly (readonly [HeaderToken, number | null])[];

interface RankTable {
  person: Ranks;
  company: Ranks;
  /** Rank of a name without such a token. */
  plain: number;
}

const emails: RankTable = {
  person: [
    ['personal', 4],
    ['home', 4],
    ['secondary', 3],
    ['billing', 3],
    ['work', 0],
    ['company', 2],
  ],
  // Only the domains are read, and a private mailbox does not identify a company.
  company: [
    ['personal', null],
    ['home', null],
    ['secondary', 3],
    ['company', 0],
    ['work', 0],
  ],
  plain: 1,
};

const phones: RankTable = {
  person: [
    ['company', 6],
    ['account', 6],
    ['switchboard', 6],
    ['secondary', 5],
    ['personal', 4],
    ['home', 4],
    ['billing', 5],
    ['direct', 0],
    ['direct_line', 0],
    ['mobile', 1],
  ],
  company: [
    ['personal', null],
    ['home', null],
    ['company', 0],
    ['switchboard', 0],
    ['account', 0],
    ['mobile', 4],
    ['direct', 3],
    ['direct_line', 3],
    ['secondary', 2],
  ],
  plain: 2,
};

/** A page of a person never counts for a company, nor the reverse. */
const pages: RankTable = {
  person: [
    ['company', null],
    ['account', null],
    ['secondary', 2],
    ['person', 0],
  ],
  company: [
    ['person', null],
    ['personal', null],
    ['secondary', 3],
    ['company', 0],
    ['account', 0],
  ],
  plain: 1,
};

const domains: RankTable = {
  person: [],
  company: [
    ['personal', null],
    ['person', null],
    ['secondary', 4],
    ['domain', 0],
    ['website', 1],
    ['company', 1],
  ],
  plain: 2,
};

const countries: RankTable = {
  person: [
    ['billing', 3],
    ['company', 2],
    ['account', 2],
    ['work', 1],
  ],
  company: [
    ['person', 3],
    ['personal', 3],
    ['home', 3],
    ['billing', 2],
  ],
  plain: 0,
};

const companyNames: RankTable = {
  person: [
    ['secondary', 3],
    ['account', 1],
    ['legal', 1],
  ],
  company: [
    ['secondary', 3],
    ['account', 1],
    ['legal', 1],
  ],
  plain: 0,
};

const tables: Readonly<Partial<Record<string, RankTable>>> = {
  email: emails,
  phone: phones,
  professional_network: pages,
  twitter: pages,
  domain: domains,
  country: countries,
  company_name: companyNames,
};

/** `Second contact email` is another's; `Contact - email - other` is not. */
function isOfSecondPerson(tokens: ReadonlySet<HeaderToken>): boolean {
  const order = [...tokens];
  const person = order.indexOf('person');
  if (person === -1) return false;
  const isLast = person === order.length - 2;
  return order[person - 1] === 'secondary' || (isLast && order[person + 1] === 'secondary');
}

/** Lower is better; null for a column whose name excludes the subject. */
export function rankOfColumn(
  { role, tokens, isExact }: HeaderReading,
  subject: 'person' | 'company',
): number | null {
  if (role === 'foreign' || (subject === 'person' && isOfSecondPerson(tokens))) return null;
  const table = tables[role ?? ''];
  if (table === undefined) return 0;
  const found = table[subject].find(([token]) => tokens.has(token));
  if (found === undefined) return table.plain + (isExact ? 0 : 0.5);
  const [, rank] = found;
  return rank === null ? null : rank + (isExact ? 0 : 0.5);
}
