/**
 * The result of a match: the stored records as bytes, and from them the JSON of single calls and the columns of
 * output files. Records stay bytes until a cell is needed, so that a batch copies them without making strings of
 * them.
 */
import { companyFields, personFields, type RecordField } from '../graph/fields.ts';
import { type CellShape, endOfCell, recordToJson, startOfCell } from '../graph/record.ts';
import { must } from '../lib/assert.ts';
import { invalidParameter } from '../lib/errors.ts';
import { type OperationName, type PricedOperation, personSearch } from '../operations.ts';
import { type Member, membersOf } from './member-columns.ts';

/** A stored record inside a larger buffer. */
export interface RecordBytes {
  bytes: Buffer;
  from: number;
  to: number;
}

/** The data of one match; which parts are present depends on the operation. */
export interface MatchData {
  person: RecordBytes | null;
  company: RecordBytes | null;
  /** JSON array of a UK company's directors, when it was found by its number. */
  directors: string | null;
  /** JSON array of financial periods, latest first. */
  periods: string | null;
}

/** A column of the output file. `typed` cells (numbers, times, phone numbers) are never spreadsheet formulas. */
export type OutputColumn = {
  header: string;
  typed: boolean;
  /** Shape of the cell in JSON. */
  json: CellShape;
} & (
  | { record: 'person' | 'company'; index: number }
  | {
      record: null;
      read: (match: MatchData) => string;
      /** For a value inside the objects of a record. */
      member?: {
        record: 'person' | 'company';
        fields: readonly number[];
        readFrom: Member['readFrom'];
      };
    }
);

const fieldIndex = (fields: readonly RecordField[], name: string) => {
  const index = fields.findIndex((field) => field.name === name);
  return must(index === -1 ? null : index, `field ${name}`);
};

const cellOf = {
  mobile: fieldIndex(personFields, 'mobile'),
  workEmail: fieldIndex(personFields, 'workEmail'),
  workEmailStatus: fieldIndex(personFields, 'workEmailStatus'),
  personUpdated: fieldIndex(personFields, 'whenUpdated'),
  logo: fieldIndex(companyFields, 'logo'),
};

/** Returns the text of the cell at a position of a record. */
export function recordCellAt(record: RecordBytes | null, index: number): string {
  if (record === null) return '';
  const { bytes, to } = record;
  const from = startOfCell(bytes, record.from, to, index);
  return bytes.toString('utf8', from, endOfCell(bytes, from, to));
}

const emailStatuses = new Set(['valid', 'invalid', 'catch_all', 'unknown']);

function emailStatus(match: MatchData): string {
  const stored = recordCellAt(match.person, cellOf.workEmailStatus);
  return emailStatuses.has(stored) ? stored : 'unknown';
}

/** Returns when the stored status was last confirmed: the record's last update, '' when there is no status. */
function emailVerifiedAt(match: MatchData): string {
  return emailStatus(match) === 'unknown' ? '' : recordCellAt(match.person, cellOf.personUpdated);
}

const periodFields = [
  'period_end',
  'currency',
  'revenue',
  'gross_profit',
  'operating_profit',
  'profit',
  'total_assets',
  'net_assets',
  'cash',
  'employees',
] as const;

function periodType(name: string): RecordField['type'] {
  if (name === 'period_end') return 'date';
  return name === 'currency' ? 'text' : 'integer';
}

function latestPeriodCell(match: MatchData, name: string): string {
  if (match.periods === null) return '';
  const [latest] = JSON.parse(match.periods) as Record<string, string | number | null>[];
  return String(latest?.[name] ?? '');
}

function recordColumns(record: 'person' | 'company'): OutputColumn[] {
  const fields = record === 'person' ? personFields : companyFields;
  return fields.map((field, index) => ({
    header: `${record}.${field.name}`,
    typed: field.typed ?? field.type !== 'text',
    json: field,
    record,
    index,
  }));
}

function recordColumn(header: string, record: 'person' | 'company', name: string): OutputColumn {
  const fields = record === 'person' ? personFields : companyFields;
  const index = fieldIndex(fields, name);
  const field = must(fields[index], `field ${name}`);
  return { header, typed: field.typed ?? field.type !== 'text', json: field, record, index };
}

function computed(
  header: string,
  type: RecordField['type'],
  read: (match: MatchData) => string,
): OutputColumn {
  return { header, typed: true, json: { name: header, type, nullable: true }, record: null, read };
}

/** The values inside the objects of a record, as columns of their own. */
function memberColumns(record: 'person' | 'company'): OutputColumn[] {
  const fields = record === 'person' ? personFields : companyFields;
  return membersOf(fields).map(({ name, type, objects, readFrom }) => {
    const indexes = new Map(objects.map((object) => [object, fieldIndex(fields, object)]));
    return {
      header: `${record}.${name}`,
      typed: type !== 'text',
      json: { name, type, nullable: true },
      record: null,
      member: { record, fields: [...indexes.values()], readFrom },
      read(match) {
        const value = readFrom((object) => {
          const cell = recordCellAt(match[record], must(indexes.get(object), 'object of a member'));
          return cell === '' ? null : JSON.parse(cell);
        });
        return String(value ?? '');
      },
    };
  });
}

const personMembers = memberColumns('person');
const companyMembers = memberColumns('company');

/** The company of a logo or of figures. */
const companyNamed = [
  recordColumn('company.id', 'company', 'id'),
  recordColumn('company.name', 'company', 'name'),
];

function toJson(fields: readonly RecordField[], record: RecordBytes | null): string {
  if (record === null) return 'null';
  return recordToJson(fields, record.bytes.toString('utf8', record.from, record.to));
}

/** The answer of an operation to a match. */
interface Answer {
  /** True when the match contains what the operation charges for. */
  isSuccess(match: MatchData): boolean;
  /** All columns that it adds to a row unless `fields` chooses, in their order. */
  columns: readonly OutputColumn[];
  /** Columns that it adds only when `fields` names them; they follow the others. */
  furtherColumns: readonly OutputColumn[];
  /** When people can be read without their long cells. */
  brief: 'always' | 'without_long_columns' | 'never';
  /** The JSON text of `data` in the response of a single call. */
  toJson(match: MatchData): string;
}

const answers: Readonly<Record<OperationName, Answer>> = {
  'people.enrich': {
    isSuccess: ({ person }) => person !== null,
    columns: recordColumns('person'),
    furtherColumns: personMembers,
    brief: 'without_long_columns',
    toJson: ({ person }) => toJson(personFields, person),
  },
  'people.enrich-with-company': {
    isSuccess: ({ person }) => person !== null,
    columns: [...recordColumns('person'), ...recordColumns('company')],
    furtherColumns: [...personMembers, ...companyMembers],
    brief: 'never',
    toJson: ({ person, company }) =>
      `{"person":${toJson(personFields, person)},"company":${toJson(companyFields, company)}}`,
  },
  'people.mobile': {
    isSuccess: ({ person }) => recordCellAt(person, cellOf.mobile) !== '',
    columns: [
      recordColumn('person.id', 'person', 'id'),
      recordColumn('person.mobile', 'person', 'mobile'),
    ],
    furtherColumns: [],
    brief: 'always',
    toJson: ({ person }) =>
      JSON.stringify({
        person_id: Number(recordCellAt(person, 0)),
        mobile: recordCellAt(person, cellOf.mobile),
      }),
  },
  'people.email-verify': {
    isSuccess: ({ person }) => person !== null,
    columns: [
      recordColumn('person.id', 'person', 'id'),
      recordColumn('email.address', 'person', 'workEmail'),
      computed('email.status', 'text', emailStatus),
      computed('email.verified_at', 'timestamp', emailVerifiedAt),
    ],
    furtherColumns: [],
    brief: 'always',
    toJson: (match) =>
      JSON.stringify({
        email: recordCellAt(match.person, cellOf.workEmail),
        status: emailStatus(match),
        verified_at: emailVerifiedAt(match) || null,
        person_id: Number(recordCellAt(match.person, 0)),
      }),
  },
  'companies.enrich': {
    isSuccess: ({ company }) => company !== null,
    columns: [
      ...recordColumns('company'),
      computed('company.directors', 'json', (match) => match.directors ?? ''),
    ],
    furtherColumns: companyMembers,
    brief: 'never',
    toJson({ company: record, directors }) {
      const company = toJson(companyFields, record);
      return directors === null ? company : `${company.slice(0, -1)},"directors":${directors}}`;
    },
  },
  'companies.logo': {
    isSuccess: ({ company }) => recordCellAt(company, cellOf.logo) !== '',
    columns: [...companyNamed, recordColumn('company.logo_url', 'company', 'logo')],
    furtherColumns: [],
    brief: 'never',
    toJson: ({ company }) =>
      JSON.stringify({
        company_id: Number(recordCellAt(company, 0)),
        logo_url: recordCellAt(company, cellOf.logo),
      }),
  },
  'companies.financials': {
    isSuccess: ({ periods }) => periods !== null,
    columns: [
      ...companyNamed,
      ...periodFields.map((name) =>
        computed(`financials.${name}`, periodType(name), (match) => latestPeriodCell(match, name)),
      ),
    ],
    furtherColumns: [],
    brief: 'never',
    toJson(match) {
      const periods = JSON.parse(match.periods ?? '[]') as { currency: string }[];
      return JSON.stringify({
        company_id: Number(recordCellAt(match.company, 0)),
        currency: periods[0]?.currency ?? null,
        periods,
      });
    },
  },
};

/** A person of a search is what `people.enrich` returns of one. */
function answerOf(operation: PricedOperation): Answer {
  return answers[operation === personSearch.name ? 'people.enrich' : operation];
}

/** Returns true when the match contains what the operation charges for. */
export function isSuccess(operation: OperationName, match: MatchData): boolean {
  return answers[operation].isSuccess(match);
}

/** Returns the JSON text of `data` in the response of a single call: shapes as the API documents them. */
export function matchToJson(operation: OperationName, match: MatchData): string {
  return answers[operation].toJson(match);
}

interface NamedColumns {
  all: readonly OutputColumn[];
  /** `all`, then the columns that are added only when they are named. */
  selectable: readonly OutputColumn[];
  /**
   * By header, and by name without the prefix before the first dot, which two columns may share; a header comes first.
   */
  byName: ReadonlyMap<string, readonly OutputColumn[]>;
}

/** The columns of each operation, computed when they are first used. */
const namedColumns = new Map<PricedOperation, NamedColumns>();

function columnsOf(operation: PricedOperation): NamedColumns {
  const known = namedColumns.get(operation);
  if (known !== undefined) return known;
  const { columns: all, furtherColumns } = answerOf(operation);
  const selectable = [...all, ...furtherColumns];
  const byName = new Map<string, OutputColumn[]>();
  for (const column of selectable) {
    const name = column.header.slice(column.header.indexOf('.') + 1);
    byName.set(name, [...(byName.get(name) ?? []), column]);
  }
  for (const column of selectable) byName.set(column.header, [column]);
  const columns = { all, selectable, byName };
  namedColumns.set(operation, columns);
  return columns;
}

/**
 * Returns the columns that an operation adds: the fields of its records, or those columns that `fields` names, among
 * them values inside objects (`company.name`, `city`). A name is a whole header, or one without the prefix before its
 * first dot. They are in the operation's order. Throws `AppError` `invalid_parameter` for an unknown name.
 */
export function outputColumns(
  operation: PricedOperation,
  fields: readonly string[] | null,
  parameter = 'fields',
): readonly OutputColumn[] {
  const { all, selectable, byName } = columnsOf(operation);
  if (fields === null) return all;
  const wanted = new Set<OutputColumn>();
  for (const name of fields) {
    const found = byName.get(name);
    if (found === undefined) {
      const message = `\`${name}\` is not a field of ${operation}. Choose from: ${selectable.map((c) => c.header).join(', ')}.`;
      throw invalidParameter(parameter, message);
    }
    for (const column of found) wanted.add(column);
  }
  return selectable.filter((column) => wanted.has(column));
}

/**
 * Returns true when people can be read without their long cells: no column is one of those, and neither success
 * nor agreement nor a required field depends on them.
 */
export function needsOnlyBrief(
  operation: PricedOperation,
  columns: readonly OutputColumn[],
  required: readonly OutputColumn[] = [],
): boolean {
  const areShort = (read: readonly OutputColumn[]) =>
    read.every((column) => fieldsRead(column)?.every((index) => !personFields[index]?.long));
  if (!areShort(required)) return false;
  const { brief } = answerOf(operation);
  return brief === 'without_long_columns' ? areShort(columns) : brief === 'always';
}

/** Returns the positions of the fields of the record that a column reads; null for other columns. */
function fieldsRead(column: OutputColumn): readonly number[] | null {
  return column.record === null ? (column.member?.fields ?? null) : [column.index];
}

/** Returns the ids of the people in a match: the person, or a company's directors who are stored people. */
export function peopleOfMatch(match: MatchData): number[] {
  if (match.person !== null) return [Number(recordCellAt(match.person, 0))];
  const directors = JSON.parse(match.directors ?? '[]') as { person_id: number | null }[];
  return directors.flatMap(({ person_id: id }) => (id === null ? [] : [id]));
}
