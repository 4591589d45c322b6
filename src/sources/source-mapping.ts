/** Mappings of files that no adapter knows: from the fields of a person or company to the columns that hold them. */
import { z } from 'zod';
import { unprocessable } from '../core/lib/errors.ts';
import { foldColumnName, readColumnName } from '../mapping/column-names.ts';
import { type ColumnMapping, guessColumns } from '../mapping/guess-columns.ts';
import { companyNames, personNames } from './mapping-names.ts';
import { isOptOutColumn } from './opt-out.ts';

const personFields = [
  ...[
    'key',
    'salutation',
    'full_name',
    'given_name',
    'family_name',
    'email',
    'phone',
    'mobile',
    'job_title',
  ],
  ...[
    'company_name',
    'website',
    'professional_network',
    'twitter',
    'street',
    'city',
    'region',
    'postcode',
  ],
  ...['country', 'birth_date', 'opt_out'],
] as const;
const companyFields = [
  ...[
    'key',
    'name',
    'domain',
    'professional_network',
    'phone',
    'email',
    'registry_number',
    'registry_country',
  ],
  ...[
    'industry',
    'sic_codes',
    'employees',
    'head_count',
    'founded',
    'status',
    'summary',
    'street',
    'city',
  ],
  ...['region', 'postcode', 'country'],
] as const;

/** Names of sources are the names of mappings; those of the adapters are taken. */
export const MAPPING_NAME = /^[a-z0-9][a-z0-9-]{0,39}$/;

const columnsOf = (fields: readonly string[]) =>
  z
    .record(z.string(), z.array(z.string().min(1)).min(1))
    .refine((columns) => Object.keys(columns).every((field) => fields.includes(field)), {
      message: `has a field other than ${fields.join(', ')}`,
    })
    .refine((columns) => Object.keys(columns).length > 0, { message: 'names no column' });

export const mappingSchema = z.discriminatedUnion('of', [
  z.strictObject({
    of: z.literal('persons'),
    columns: columnsOf(personFields),
    country: z.string().optional(),
  }),
  z.strictObject({
    of: z.literal('companies'),
    columns: columnsOf(companyFields),
    country: z.string().optional(),
  }),
]);

/**
 * `columns` has the names of the columns of each field, the first that holds a value counts. `country` is that of rows
 * without one.
 */
export type SourceMapping = z.output<typeof mappingSchema>;

/** The names of the columns of a file, and its first rows. */
export interface FileHead {
  header: readonly string[];
  sample: readonly (readonly string[])[];
}

/**
 * Guesses the mapping of a file, as the columns of a list are guessed. Throws `AppError` 422 `unmapped` with the columns
 * when none is recognised.
 */
export function guessMapping({ header, sample }: FileHead): SourceMapping {
  const head = { header, sample };
  const person = guessColumns('people.enrich', head, 'likely');
  const company = guessColumns('companies.enrich', head);
  if (isOfPeople(person, company)) {
    return { of: 'persons', columns: personColumns(head, person) };
  }
  if (company.name !== undefined) {
    return { of: 'companies', columns: companyColumns(head, company) };
  }
  throw unprocessable(
    'unmapped',
    `No column of this file could be read as a name, an email or a profile (${header.join(', ')}); nothing was changed. ` +
      'Write the mapping into a file and give that with --map: ' +
      '{"of": "persons", "columns": {"email": ["..."]}}.',
  );
}

/** A file of companies may have emails; one of people has their names, or addresses and no company. */
function isOfPeople(person: ColumnMapping, company: ColumnMapping): boolean {
  const names = person.person_name ?? [];
  const isCompany = (column: number) => company.name?.some((other) => other.column === column);
  if (names.length > 0) return !names.some(({ column }) => isCompany(column));
  const hasAddress = person.email !== undefined || person.professional_network !== undefined;
  return hasAddress && company.name === undefined;
}

function personColumns(head: FileHead, guess: ColumnMapping): Record<string, string[]> {
  const names = namesOf(guess.person_name);
  const phones = namesOf(guess.phone);
  const isMobile = (name: string) => readColumnName(name).tokens.has('mobile');
  return filled({
    ...byNames(head, personNames),
    opt_out: head.header.filter(isOptOutColumn),
    ...(names.length > 1
      ? { given_name: names.slice(0, -1), family_name: names.slice(-1) }
      : { full_name: names }),
    email: namesOf(guess.email),
    phone: phones.filter((name) => !isMobile(name)),
    mobile: phones.filter(isMobile),
    job_title: namesOf(guess.title),
    company_name: namesOf(guess.company_name),
    professional_network: namesOf(guess.professional_network),
    twitter: namesOf(guess.twitter),
    country: namesOf(guess.country),
  });
}

function companyColumns(head: FileHead, guess: ColumnMapping): Record<string, string[]> {
  const kinds = ['name', 'domain', 'professional_network', 'phone', 'registry_number', 'country'];
  const named = byNames(head, companyNames);
  const domains = namesOf(guess.domain).filter((name) => !named.email?.includes(name));
  return filled({
    ...named,
    ...Object.fromEntries(kinds.map((kind) => [kind, namesOf(guess[kind])])),
    domain: domains,
  });
}

/** The columns whose names say what they hold. A key has a value in each row, and no value twice. */
function byNames(
  { header, sample }: FileHead,
  known: Readonly<Record<string, readonly string[]>>,
): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const [field, names] of Object.entries(known)) {
    const columns = header.filter((name) => names.includes(foldColumnName(name)));
    const keys = columns.filter((name) => {
      const cells = sample.map((row) => row[header.indexOf(name)]?.trim() ?? '');
      return new Set(cells).size === cells.length && !cells.includes('');
    });
    found[field] = field === 'key' ? keys.slice(0, 1) : columns;
  }
  return found;
}

function namesOf(columns: ColumnMapping[string] | undefined): string[] {
  return (columns ?? []).flatMap(({ header }) => (header ? [header] : []));
}

/** Without fields that no column holds. */
function filled(columns: Record<string, string[]>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(columns).filter(([, names]) => names.length > 0));
}
