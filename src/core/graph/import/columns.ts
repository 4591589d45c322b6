/** The columns of an import, derived from the field tables, and the cells of one record for them. */
import type { RecordField } from '../fields.ts';
import {
  asObject,
  type Coerce,
  type CoerceContext,
  coerceDate,
  coerceGender,
  coerceGeo,
  coerceIndexedText,
  coerceInt4,
  coerceLinkedId,
  coercePhone,
  coerceRecordId,
  coerceReferenceId,
  coerceReferences,
  coerceSkills,
  coerceText,
  coerceTexts,
  coerceTimestamp,
  dropped,
  isAbsent,
  Unreadable,
} from './coerce.ts';
import { type CopyCell, copyCell } from './copy-text.ts';
import type { JsonRecord } from './read-records.ts';

export interface ImportColumn {
  /** Name in import files. */
  field: string;
  column: string;
  coerce: Coerce;
  /** Cell of an absent value. */
  absent: CopyCell;
  /** Zero means absent (nullable ids). */
  zeroIsAbsent?: boolean;
  /** Object whose `id` is used when the field is absent: `cities` for `cityId`. */
  object?: string;
  /** A record without it is rejected. */
  isRequired?: boolean;
}

/** The reason why a record is rejected. */
export interface Problem {
  field: string | null;
  reason: string;
}

/** Number of omitted values by field. */
export type DroppedValues = Record<string, number>;

const objectOfId: Readonly<Record<string, string>> = {
  industryId: 'industries',
  positionId: 'positions',
  companyId: 'company',
  cityId: 'cities',
  countryId: 'countries',
  regionId: 'regions',
};

const coerceByField: Readonly<Record<string, Coerce>> = {
  id: coerceRecordId,
  gender: coerceGender,
  name: coerceIndexedText,
  surname: coerceIndexedText,
  domain: coerceIndexedText,
  email: coerceIndexedText,
  workEmail: coerceIndexedText,
  professional_network: coerceIndexedText,
  position: coerceIndexedText,
  skills: coerceSkills,
  phone: coercePhone,
  mobile: coercePhone,
  locationGeo: coerceGeo,
  companyId: coerceLinkedId,
  pastCompanyId: coerceLinkedId,
  currentCompanyId: coerceLinkedId,
  pastCompanies: coerceReferences,
  currentCompanies: coerceReferences,
};

/** Returns the columns that fill a table of records: all fields with a column, `id` first. */
export function columnsOfFields(fields: readonly RecordField[]): ImportColumn[] {
  return fields.flatMap((field) => {
    const { name, column } = field;
    if (column === undefined) return [];
    const object = objectOfId[name];
    return [
      {
        field: name,
        column,
        coerce: coerceByField[name] ?? coerceOf(field),
        absent: absentCell(field),
        zeroIsAbsent: field.nullable && isId(field),
        isRequired: name === 'id',
        ...(object === undefined ? {} : { object }),
      },
    ];
  });
}

function isId(field: RecordField): boolean {
  return field.type === 'integer' && field.name.endsWith('Id');
}

function coerceOf(field: RecordField): Coerce {
  switch (field.type) {
    case 'text':
      return coerceText;
    case 'integer':
      return isId(field) ? coerceReferenceId : coerceInt4;
    case 'date':
      return coerceDate;
    case 'timestamp':
      return coerceTimestamp;
    case 'json':
      return coerceTexts;
  }
}

/** The two times of a record are null in the stage: the merge keeps or sets them. */
function absentCell(field: RecordField): CopyCell {
  if (field.nullable || field.type === 'timestamp') return null;
  if (field.type === 'integer') return 0;
  return field.type === 'json' ? [] : '';
}

/** Returns one line of COPY text (without its end), or why the record is rejected. Counts dropped values. */
export function readCells(
  columns: readonly ImportColumn[],
  record: JsonRecord,
  context: CoerceContext & { dropped: DroppedValues },
): string | Problem {
  const cells: string[] = [];
  for (const column of columns) {
    const { field } = column;
    const cell = readCell(column, record, context);
    if (cell instanceof Unreadable) return { field, reason: cell.reason };
    if (cell === dropped) context.dropped[field] = (context.dropped[field] ?? 0) + 1;
    cells.push(copyCell(cell === dropped ? column.absent : cell));
  }
  return cells.join('\t');
}

function readCell(column: ImportColumn, record: JsonRecord, context: CoerceContext) {
  const value = givenValue(column, record);
  if (isAbsent(value)) return column.isRequired ? new Unreadable('missing') : column.absent;
  const cell = column.coerce(value, context);
  // Control characters alone are an empty text, and the id 0 is absent.
  const isNothing = cell === '' || (cell === 0 && column.zeroIsAbsent === true);
  return isNothing ? column.absent : cell;
}

function givenValue(column: ImportColumn, record: JsonRecord): unknown {
  const value = record[column.field];
  if (column.object === undefined || !isAbsent(value)) return value;
  const object = record[column.object];
  return isAbsent(object) ? undefined : asObject(object)?.id;
}
