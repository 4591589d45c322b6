/**
 * Classifies the cells of a column. Two counts of every kind: `strict`, cells that can hardly be anything else
 * (the basis of guesses from content alone), and `loose`, cells that the kind's normaliser could use (a header
 * is doubted when hardly any cell counts).
 */
import { countryCode, phoneRegion } from '../core/identifiers/country.ts';
import { normaliseDomain } from '../core/identifiers/domain.ts';
import type { NormaliseContext } from '../core/identifiers/kind.ts';
import { isPlaceholder } from '../core/identifiers/placeholder.ts';
import { type ColumnKind, columnKinds, columnSigns, ofEachKind } from './column-kinds.ts';

/** Contents that are no identifiers, with their plurals for messages. */
const otherPlurals = {
  /** A profile of the other subject. */
  other_profile: 'profile URLs of the other kind',
  country: 'countries',
  company_name: 'company names',
  person_name: 'names',
} as const;
export type ContentKind = ColumnKind | keyof typeof otherPlurals;

/** Plurals of the contents for messages. */
export const contentPlurals: Readonly<Record<ContentKind, string>> = {
  ...ofEachKind(({ plural }) => plural),
  ...otherPlurals,
};

export interface ColumnContent {
  /** Non-empty cells. */
  filled: number;
  /** Different values of them: of web addresses the hosts. */
  different: number;
  strict: Readonly<Record<ContentKind, number>>;
  loose: Readonly<Record<ContentKind, number>>;
}

export function isFilled(cell: string): boolean {
  return cell.trim() !== '' && !isPlaceholder(cell);
}

/**
 * Classifies one column of the sample; `contexts` has one for each row, the same as for the rows of the batch. Pure;
 * time linear in the length of the cells.
 */
export function readContent(
  cells: readonly string[],
  contexts: readonly NormaliseContext[],
): ColumnContent {
  const strict = noCounts();
  const loose = noCounts();
  const texts: string[] = [];
  const values = new Set<string>();
  for (const [row, cell] of cells.entries()) {
    const context = contexts[row];
    if (context === undefined || !isFilled(cell)) continue;
    const text = cell.trim();
    texts.push(text);
    const certain = countKinds(text, context, strict, loose);
    values.add(certain === 'domain' ? hostOf(text) : text.toLowerCase());
    const isAddress = certain === 'email' || text.includes('://');
    countOthers(text, isAddress, strict, loose);
  }
  for (const kind of columnKinds) {
    const { tellingForm } = columnSigns[kind];
    if (tellingForm === undefined) continue;
    const telling = texts.filter((text) => tellingForm.test(text)).length;
    if (telling * 10 < texts.length) strict[kind] = 0;
  }
  return { filled: texts.length, different: values.size, strict, loose };
}

function hostOf(address: string): string {
  const normalised = normaliseDomain(address);
  return 'values' in normalised ? normalised.values[0] : address.toLowerCase();
}

type Counts = Record<ContentKind, number>;

function noCounts(): Counts {
  const kinds = Object.keys(contentPlurals) as ContentKind[];
  return Object.fromEntries(kinds.map((kind) => [kind, 0])) as Counts;
}

/** Counts the identifier kinds that a cell can hold. Returns the first that it certainly holds, or null. */
function countKinds(
  text: string,
  context: NormaliseContext,
  strict: Counts,
  loose: Counts,
): ContentKind | null {
  let certain: ContentKind | null = null;
  for (const kind of columnKinds) {
    const { contentOf, yields } = columnSigns[kind];
    const content = contentOf(text, context);
    if (content === null) continue;
    const counted = content === 'other_subject' ? 'other_profile' : kind;
    loose[counted] += 1;
    if (content === 'possible' || (yields && certain !== null)) continue;
    strict[counted] += 1;
    certain ??= counted;
  }
  return certain;
}

/** Counts countries and names. */
function countOthers(text: string, isAddress: boolean, strict: Counts, loose: Counts): void {
  const count = (kind: ContentKind, isStrict: boolean, isLoose: boolean) => {
    if (isStrict) strict[kind] += 1;
    if (isStrict || isLoose) loose[kind] += 1;
  };
  count('country', countryCode(text) !== null, phoneRegion(text) !== null);
  count('company_name', legalForm.test(text), !isAddress && /[\p{L}\p{N}]/u.test(text));
  count('person_name', false, !isAddress && /\p{L}/u.test(text) && !/\d{3}/.test(text));
}

const forms = `limited|ltd|inc|incorporated|plc|llc|llp|gmbh|corp|corporation|pty|oyj?|aps|kft|
  a\\.?g|a/?s|b\\.?v|k\\.?k|s\\.?a\\.?r\\.?l|s\\.?r\\.?l|s\\.?p\\.?a`;
/** Legal forms that end company names and little else. */
const legalForm = new RegExp(`[\\s,(](?:${forms.replace(/\s+/g, '')})\\.?\\)?$`, 'i');
