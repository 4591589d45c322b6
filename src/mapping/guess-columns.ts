/**
 * Guesses the columns of a list: first by the words of its header, which the cells may refute, then by the
 * cells alone. A wrong guess looks up, and may pay for, another person's record, so a doubtful column is left
 * out rather than read.
 */
import type { MatchMode } from '../core/enrich/match-mode.ts';
import type { IdentifierKind } from '../core/identifiers/identifier.ts';
import { type OperationName, operations } from '../core/operations.ts';
import type { ContentKind } from './column-content.ts';
import { ofEachKind } from './column-kinds.ts';
import { type ColumnRole, foldColumnName } from './column-names.ts';
import { rankOfColumn } from './column-ranks.ts';
import { columnsOfOthers } from './columns-of-others.ts';
import { withoutRelations } from './columns-of-relations.ts';
import {
  type ColumnView,
  describeShare,
  kindOfContent,
  type ListHead,
  readColumns,
  unmistakable,
} from './read-columns.ts';

/** One column of the file: its number from 1, and its name where the file has a header. */
export interface MappedColumn {
  column: number;
  header: string | null;
  /** Why this column: `header "E-mail"`, `94% of 87 cells are emails`, `chosen`. */
  reason: string;
}

/**
 * From identifier kind (or context column) to the columns that hold it, in the order to try. The
 * columns of `person_name` are the parts of one name, in order: one full name, or given and family
 * name.
 */
export type ColumnMapping = Record<string, MappedColumn[]>;

/** Numbers of columns from 1, by kind. */
export type ColumnNumbers = Record<string, number[]>;

/** Returns the numbers of the columns of a mapping. */
export function columnNumbers(mapping: ColumnMapping): ColumnNumbers {
  const kinds = Object.entries(mapping).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(kinds.map(([kind, columns]) => [kind, columns.map((c) => c.column)]));
}

type Subject = 'person' | 'company';
type Kind = GuessedKind | 'person_name' | 'title';
type GuessedKind = IdentifierKind | 'country' | 'city' | 'company_name';

/**
 * Guesses the columns of every identifier and context kind of the operation, best first; kinds without a column
 * are omitted. Total and deterministic; never maps a column twice.
 */
export function guessColumns(
  operation: OperationName,
  list: ListHead,
  match: MatchMode = 'exact',
): ColumnMapping {
  const { identifiers, subject } = operations[operation];
  const read = withoutRelations(readColumns(list, subject), subject, identifiers);
  const views = withoutFurtherPeople(list, read, subject);
  const others = columnsOfOthers(list, views, subject, kindOfColumn);
  const believed = views.filter(
    (view) => isConfirmedByCells(view, subject) && (view.reading.isExact || !others.has(view)),
  );
  const rest = views.filter((view) => !believed.includes(view) && !others.has(view));
  const mapping: ColumnMapping = {};
  const add = (kind: Kind, columns: MappedColumn[]) => {
    if (columns.length > 0) mapping[kind] = columns;
  };
  for (const kind of [...identifiers, 'country'] as const) {
    const named = columnsByName(kind, believed, subject, views);
    const found = named.length > 0 ? named : columnsByContent(kind, rest, subject);
    add(kind, found.length > 0 || kind !== 'domain' ? found : domainsOfEmails(believed, rest));
  }
  if (subject === 'company') add('city', columnsByName('city', believed, subject));
  if (subject === 'person') {
    add('company_name', columnsByName('company_name', believed, subject));
    add('person_name', nameColumns(believed));
    if (match === 'likely') {
      add('city', columnsByName('city', believed, subject));
      add('title', titleColumns(views));
    }
    return ofFirstOffice(mapping);
  }
  return mapping;
}

const partsOfNames: ReadonlySet<string> = new Set<ColumnRole>([
  'full_name',
  'first_name',
  'last_name',
]);

/**
 * Leaves out the columns of a second contact, who has a name of the same number (`Contact 2 Name`, `Contact 2 Email`), and those
 * that are repeated behind a second name (`Name, Email, Name, Email`), or two together (`Email, Phone, Email, Phone`).
 */
function withoutFurtherPeople(list: ListHead, views: ColumnView[], subject: Subject): ColumnView[] {
  if (subject === 'company') return views;
  const people = new Set(
    views
      .filter(({ reading }) => reading.number > 1 && partsOfNames.has(reading.role ?? ''))
      .map(({ reading }) => reading.number),
  );
  const seconds = secondNames(list, views);
  const firstOf = new Map<ColumnRole | null, number>();
  for (const { column, reading } of [...views].reverse()) firstOf.set(reading.role, column);
  const isAgain = ({ column, reading: { role } }: ColumnView) =>
    contactKinds.has(role ?? '') &&
    seconds.some((second) => (firstOf.get(role) ?? column) < second && second < column);
  const repeated = repeatedContacts(views);
  return views.filter(
    (view) => !people.has(view.reading.number) && !isAgain(view) && !repeated.includes(view),
  );
}

/** The contact columns that have the name of an earlier one, when they are of two kinds or more. */
function repeatedContacts(views: readonly ColumnView[]): ColumnView[] {
  const names = new Set<string>();
  const repeated = views.filter(({ header, reading: { role } }) => {
    const name = foldColumnName(header ?? '');
    const isKnown = names.has(name);
    if (contactKinds.has(role ?? '')) names.add(name);
    return isKnown;
  });
  return new Set(repeated.map(({ reading }) => reading.role)).size > 1 ? repeated : [];
}

const contactKinds: ReadonlySet<string> = new Set<ColumnRole>(
  operations['people.enrich'].identifiers,
);

/** Numbers of the columns of people's names that one of their kind precedes, mostly with other cells. */
function secondNames({ sample }: ListHead, views: readonly ColumnView[]): number[] {
  const firsts = new Map<ColumnRole | null, number>();
  return views.filter(isOfPeople).flatMap(({ column, reading: { role, tokens } }) => {
    const first = firsts.get(role);
    // A `Preferred name` is another one of the same person.
    if (first === undefined || tokens.has('primary')) {
      firsts.set(role, first ?? column);
      return [];
    }
    const pairs = sample
      .map((row) => [row[first - 1]?.trim(), row[column - 1]?.trim()])
      .filter(([one, other]) => one && other);
    const equal = pairs.filter(([one, other]) => one === other);
    return equal.length * 2 <= pairs.length ? [column] : [];
  });
}

/** True for a column of names, but for a plain "Name" of companies. */
function isOfPeople(view: ColumnView): boolean {
  const { role } = view.reading;
  if (role === 'name') return kindOfContent(view) !== 'company_name';
  return partsOfNames.has(role ?? '');
}

/** The content that confirms a role. */
const contentOfRole: Readonly<Partial<Record<ColumnRole, ContentKind>>> = {
  ...ofEachKind((_, kind) => kind),
  country: 'country',
  company_name: 'company_name',
  city: 'person_name',
  full_name: 'person_name',
  first_name: 'person_name',
  middle_name: 'person_name',
  last_name: 'person_name',
};

/** Fewer cells may all be mistakes. */
const CELLS_TO_REFUTE = 5;
const REFUTED_BELOW = 0.1;
const DOUBTFUL_BELOW = 0.5;

/** True when a column's name has a role that its cells do not refute. */
function isConfirmedByCells(view: ColumnView, subject: Subject): boolean {
  const { reading, content } = view;
  const { role, tokens, isExact } = reading;
  if (role === null || role === 'other' || role === 'foreign') return false;
  const expected = contentOfRole[role] ?? nameContent(subject);
  const seen = kindOfContent(view);
  if (
    seen !== null &&
    seen !== expected &&
    (unmistakable.has(seen) || isHostAsName(seen, expected))
  ) {
    return false;
  }
  const { filled } = content;
  // "Profile" and "X" alone may head any text, and nearly every word is a possible handle.
  const isVague =
    (role === 'professional_network' && !tokens.has(role)) ||
    (role === 'twitter' && tokens.size === 1 && tokens.has('x'));
  const usable = isVague ? content.strict[expected] : content.loose[expected];
  if (!isExact || isVague) return filled === 0 || usable >= filled * DOUBTFUL_BELOW;
  return filled < CELLS_TO_REFUTE || usable >= filled * REFUTED_BELOW;
}

/** The kind of a column's cells, else that of its name; '' for none. */
function kindOfColumn(view: ColumnView): ContentKind | '' {
  return kindOfContent(view) ?? contentOfRole[view.reading.role ?? 'other'] ?? '';
}

function nameContent(subject: Subject): ContentKind {
  return subject === 'person' ? 'person_name' : 'company_name';
}

function isHostAsName(seen: ContentKind, expected: ContentKind): boolean {
  return seen === 'domain' && (expected === 'company_name' || expected === 'person_name');
}

/** Returns the role of the columns that hold the kind. */
function roleOf(kind: GuessedKind): ColumnRole {
  return kind === 'name' ? 'company_name' : kind;
}

const contextKinds: ReadonlySet<GuessedKind> = new Set(['country', 'city', 'company_name']);

function columnsByName(
  kind: GuessedKind,
  believed: readonly ColumnView[],
  subject: Subject,
  views: readonly ColumnView[] = believed,
): MappedColumn[] {
  const role = roleOf(kind);
  const ranked: { view: ColumnView; rank: number }[] = [];
  for (const view of believed) {
    if (view.reading.role !== role) continue;
    const rank = rankOfColumn(view.reading, subject);
    if (rank !== null) ranked.push({ view, rank });
  }
  if (kind === 'name' && ranked.length === 0) return plainNameColumns(believed, views);
  const exact = ranked.filter(({ view }) => view.reading.isExact);
  const sorted = (exact.length > 0 && !contextKinds.has(kind) ? exact : ranked).sort(
    (a, b) =>
      a.rank - b.rank ||
      a.view.reading.number - b.view.reading.number ||
      a.view.column - b.view.column,
  );
  // "Delegate email" next to "Email" may be another's, and of all rows one's.
  const mapped = sorted.map(({ view }) => byName(view));
  return exact.length > 0 ? mapped : firstOfficer(kind, mapped, subject);
}

/** Offices of which a company has one person each. */
const OFFICE =
  /\b(?:c[a-z]o|chro|(?:co ?)?founder|president|chair(?:man|woman|person)?|director|treasurer|partner)\b/g;

const officesOf = ({ header }: MappedColumn) => foldColumnName(header ?? '').match(OFFICE) ?? [];

/** Of columns that name offices, such as "CEO email" and "CFO email", another one is another person's. */
function firstOfficer(
  kind: GuessedKind,
  columns: MappedColumn[],
  subject: Subject,
): MappedColumn[] {
  if (subject !== 'person' || !contactKinds.has(kind)) return columns;
  return columns.some((one) => officesOf(one).length > 0) ? columns.slice(0, 1) : columns;
}

/** Leaves out the columns of offices other than the first: "CEO email" and "CFO phone" belong to two people. */
function ofFirstOffice(mapping: ColumnMapping): ColumnMapping {
  const named = Object.values(mapping)
    .flat()
    .filter((one) => officesOf(one).length > 0);
  const [first] = named.sort((one, other) => one.column - other.column);
  if (first === undefined) return mapping;
  const offices = new Set<string>(officesOf(first));
  const isOthers = (one: MappedColumn) =>
    officesOf(one).length > 0 && !officesOf(one).some((office) => offices.has(office));
  const left = Object.entries(mapping).map(([kind, columns]) => {
    return [kind, columns.filter((one) => !isOthers(one))] as const;
  });
  return Object.fromEntries(left.filter(([, columns]) => columns.length > 0));
}

/**
 * A plain "Name" is a company's when its cells end in legal forms, or next to a column that only companies have and
 * none that only people have: as the name of a person it would be looked up, and paid for, as a company's.
 */
function plainNameColumns(
  believed: readonly ColumnView[],
  views: readonly ColumnView[],
): MappedColumn[] {
  const has = (...roles: ColumnRole[]) =>
    views.some(({ reading }) => reading.role !== null && roles.includes(reading.role));
  const isOfPeople =
    has('email', 'first_name', 'last_name', 'full_name') ||
    views.some((view) => kindOfContent(view) === 'other_profile');
  const isOfCompanies = has('registry_number', 'domain') && !isOfPeople;
  if (has('first_name', 'last_name')) return [];
  return believed
    .filter((view) => view.reading.role === 'name')
    .filter((view) => isOfCompanies || kindOfContent(view) === 'company_name')
    .map(byName);
}

/** Names of columns of job titles, folded; not salutations. */
const titleNames: ReadonlySet<string> = new Set([
  'title',
  'job title',
  'jobtitle',
  'job',
  'position',
  'role',
  'job role',
  'function',
  'job function',
  'position title',
  'person job title',
  'stelle',
  'jobtitel',
  'berufsbezeichnung',
  'beruf',
  'funktion',
  'fonction',
  'poste',
  'intitule du poste',
  'intitule de poste',
  'titre du poste',
  'cargo',
  'puesto',
  'puesto de trabajo',
  'ruolo',
  'functie',
  'functietitel',
  'stanowisko',
  'headline',
  '役職',
  '職種',
  '職位',
]);

function titleColumns(views: readonly ColumnView[]): MappedColumn[] {
  const named = views.find(({ header }) => titleNames.has(foldColumnName(header ?? '')));
  return named === undefined ? [] : [byName(named)];
}

/** One full name, or its parts in order. "Name" next to one part of a name is the other part. */
function nameColumns(believed: readonly ColumnView[]): MappedColumn[] {
  const of = (role: ColumnRole) => believed.find(({ reading }) => reading.role === role);
  const plain =
    believed.find((view) => view.reading.role === 'name' && isOfPeople(view)) ?? of('name');
  const first = of('first_name');
  const last = of('last_name');
  const isWhole = plain !== undefined && (first === undefined) === (last === undefined);
  const whole = isWhole ? plain : of('full_name');
  if (whole !== undefined) return [byName(whole)];
  return [first ?? plain, of('middle_name'), last ?? plain]
    .filter((view) => view !== undefined)
    .map(byName);
}

function columnsByContent(
  kind: GuessedKind,
  rest: readonly ColumnView[],
  subject: Subject,
): MappedColumn[] {
  const found = rest.flatMap((view) => {
    const seen = kindOfContent(view);
    if (seen === null || seen !== contentOfRole[roleOf(kind)]) return [];
    // Ambiguous cells do not override a name that is known to mean something else.
    const isNamed = view.reading.role === 'other' && !unmistakable.has(seen);
    // `Company handle` is a header of no kind, but says whose handles its cells are. The address of a profile or a site says it
    // itself.
    const isHandle = kind === 'twitter' && view.reading.role !== 'foreign';
    const role = isHandle ? kind : view.reading.role;
    const isOthers = rankOfColumn({ ...view.reading, role }, subject) === null;
    if (isNamed || isOthers) return [];
    const { column, header, content } = view;
    return [{ column, header, reason: describeShare(content, seen) }];
  });
  return firstOfficer(kind, found, subject);
}

/** Without a column of web addresses, uses the domains of work emails. */
function domainsOfEmails(
  believed: readonly ColumnView[],
  rest: readonly ColumnView[],
): MappedColumn[] {
  const named = columnsByName('email', believed, 'company');
  const found = named.length > 0 ? named : columnsByContent('email', rest, 'company');
  return found.map((mapped) => ({ ...mapped, reason: `${mapped.reason}, read for their domain` }));
}

function byName({ column, header }: ColumnView): MappedColumn {
  return { column, header, reason: `header "${header}"` };
}
