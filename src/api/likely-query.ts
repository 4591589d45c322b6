/** The parameters of single calls with `match=likely`. */
import { z } from 'zod';
import type { RowInput } from '../core/enrich/outcomes.ts';
import { withoutPlaceholder } from '../core/identifiers/placeholder.ts';
import type { LikelyCells } from '../core/likely/likely-row.ts';
import { country, matchMode, minProbability } from './batch-options.ts';

const CHARACTERS_MAX = 300;
const nameText = z.string().max(CHARACTERS_MAX).optional();

/** Parameters that only likely matches read; `name` of a company is an identifier too. */
export const likelyNames = ['name', 'first_name', 'last_name', 'company', 'title', 'city'] as const;

/** Returns the parameters of a call about a person or a company. */
export function likelyQuery(subject: 'person' | 'company') {
  const ofPerson = {
    name: nameText.meta({ description: 'The whole name; or first_name and last_name.' }),
    first_name: nameText,
    last_name: nameText,
    company: nameText,
    title: nameText,
  };
  return {
    ...(subject === 'person' ? ofPerson : {}),
    city: nameText,
    country: country.optional(),
    match: matchMode.optional(),
    min_probability: minProbability.optional(),
  };
}

type Query = Record<string, string | undefined>;

/** True when the call has a name to match by. */
export function isNamed({
  name = '',
  first_name: first = '',
  last_name: last = '',
}: Query): boolean {
  return `${name}${first}${last}`.trim() !== '';
}

/** Returns the cells of the call. As in lists, there are people called Null, and no companies, titles and cities. */
export function likelyCellsOf(query: Query): LikelyCells {
  const { name = '', first_name: firstName = '', last_name: lastName = '' } = query;
  const company = withoutPlaceholder(query.company);
  const title = withoutPlaceholder(query.title);
  const city = withoutPlaceholder(query.city);
  return { name, firstName, lastName, company, title, city, country: query.country ?? null };
}

/**
 * Returns the names by which a match of an identifier is judged, as by those of a list: a mailbox or a number may be another's.
 */
export function namesIn(
  subject: 'person' | 'company',
  { name = '', firstName = '', lastName = '', company = '' }: LikelyCells,
): Pick<RowInput, 'personName' | 'companyName'> {
  if (subject === 'company') return { companyName: withoutPlaceholder(name) };
  return { personName: name.trim() || `${firstName} ${lastName}`.trim(), companyName: company };
}
