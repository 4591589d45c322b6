import { companyFields } from '../fields.ts';
import { companyIdentifierCodes } from '../identifier-kinds.ts';
import { asObject, coerceLinkedId, fitsIndex, isAbsent } from './coerce.ts';
import { columnsOfFields, type Problem } from './columns.ts';
import { copyLine } from './copy-text.ts';
import { identifierFieldsOf, identifiersOf, listOf, textOf } from './identifiers-of.ts';
import type { JsonRecord } from './read-records.ts';
import type { IdentifierSet } from './record-row.ts';

export const companyColumns = columnsOfFields(companyFields);

/** Field names of an import row; others are ignored and counted. */
export const companyKnownFields: ReadonlySet<string> = new Set([
  ...companyFields.map((field) => field.name),
  ...identifierFieldsOf('company'),
  'registry',
  'industry',
  'directors',
  '_meta',
]);

/** The state of a company that no longer exists, in the words of this service. */
const DISSOLVED = 'Dissolved';

/** Returns the identifiers of a company. `region` is its country, for phones. */
export function companyIdentifiers(
  id: number,
  record: JsonRecord,
  region: string | undefined,
): IdentifierSet {
  const country = textOf(record.registryCountry);
  const context = {
    subject: 'company' as const,
    ...(region === undefined ? {} : { region }),
    ...(country === '' ? {} : { registryCountry: country }),
  };
  const isSite = isAbsent(record.domain) && !isAbsent(record.website);
  const named = isSite ? { ...record, domain: record.website } : record;
  // A dissolved company must not be found in the place of a living one.
  return identifiersOf(id, named, context, textOf(record.status) === DISSOLVED);
}

/** Returns all names of a company in the order of `companyNamesSql`, which reads them from what is stored. */
export function companyNames(record: JsonRecord, identifiers: IdentifierSet): string[] {
  const name = textOf(record.name);
  return [
    fitsIndex(name) ? name : '',
    ...listOf(record.aliases),
    ...listOf(record.formerNames),
    ...identifiers.valuesOf(companyIdentifierCodes.alias_name),
  ];
}

/** `registry: "GB-COH"` names the country of the registry number. */
export function withRegistryCountry(record: JsonRecord): JsonRecord {
  const country = /^([A-Za-z]{2})\b/.exec(textOf(record.registry))?.[1];
  if (country === undefined || !isAbsent(record.registryCountry)) return record;
  return { ...record, registryCountry: country.toUpperCase() };
}

/**
 * Returns COPY lines `ordinal, registry, companyId, name, role, ...` of `directors: [{personId, name, position}]`;
 * null when the record has no such list.
 */
export function directorsOf(id: number, record: JsonRecord): string | null | Problem {
  const { directors } = record;
  if (isAbsent(directors)) return null;
  const list: unknown = typeof directors === 'string' ? parsed(directors) : directors;
  const problem = { field: 'directors', reason: 'not_a_list_of_directors' };
  if (!Array.isArray(list)) return problem;
  const lines = new Map<string, string>();
  for (const item of list) {
    const director = asObject(item);
    const name = textOf(director?.name);
    const role = textOf(director?.position);
    const personId = isAbsent(director?.personId) ? 0 : coerceLinkedId(director?.personId);
    if (name === '' || typeof personId !== 'number') return problem;
    if (!fitsIndex(name) || !fitsIndex(role)) return { ...problem, reason: 'too_long' };
    lines.set(`${name}\n${role}`, copyLine([id, name, role, personId === 0 ? null : personId]));
  }
  return [...lines.values()].join('');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
