/**
 * A batch of officers or financial periods: rows that name their company by id or registry number.
 */
import type { Sql } from '../../db/client.ts';
import { copyInto } from '../../db/copy-into.ts';
import { normaliseIdentifier } from '../../identifiers/identifier.ts';
import { must } from '../../lib/assert.ts';
import type { Batch, BatchRow, Importer, MergeResult } from './batch.ts';
import {
  asObject,
  coerceBigint,
  coerceDate,
  coerceInt4,
  coerceInteger,
  coerceKeyText,
  coerceLinkedId,
  coerceRecordId,
  isAbsent,
  Unreadable,
} from './coerce.ts';
import { type ImportColumn, type Problem, readCells } from './columns.ts';
import {
  createFactStage,
  type FactTable,
  factColumns,
  financialTable,
  mergeFacts,
  officerTable,
  resolveCompanies,
} from './company-facts.sql.ts';
import { withRegistryCountry } from './company-row.ts';
import { copyCell } from './copy-text.ts';
import type { JsonRecord, SourceRecord } from './read-records.ts';

interface Row extends BatchRow {
  registryNumber: string | null;
  companyId: number | null;
  cells: string;
}

/** Fields that identify a row's company. */
const companyFieldNames = ['company', 'companyId', 'registryNumber', 'registryCountry', 'registry'];

const officerColumns: readonly ImportColumn[] = [
  { field: 'name', column: 'name', coerce: coerceKeyText, absent: '', isRequired: true },
  { field: 'role', column: 'role', coerce: coerceKeyText, absent: '' },
  { field: 'appointedOn', column: 'appointed_on', coerce: coerceDate, absent: null },
  { field: 'resignedOn', column: 'resigned_on', coerce: coerceDate, absent: null },
  {
    field: 'birthYear',
    column: 'birth_year',
    coerce: coerceInt4,
    absent: null,
    zeroIsAbsent: true,
  },
  { field: 'birthMonth', column: 'birth_month', coerce: coerceMonth, absent: null },
  {
    field: 'personId',
    column: 'person_id',
    coerce: coerceLinkedId,
    absent: null,
    zeroIsAbsent: true,
  },
];

const financialColumns: readonly ImportColumn[] = [
  { field: 'periodEnd', column: 'period_end', coerce: coerceDate, absent: null, isRequired: true },
  {
    field: 'currency',
    column: 'currency',
    coerce: coerceCurrency,
    absent: '',
    isRequired: true,
  },
  ...[
    ['revenue', 'revenue'],
    ['grossProfit', 'gross_profit'],
    ['operatingProfit', 'operating_profit'],
    ['profit', 'profit'],
    ['totalAssets', 'total_assets'],
    ['netAssets', 'net_assets'],
    ['cash', 'cash'],
  ].map(([field = '', column = '']) => ({ field, column, coerce: coerceBigint, absent: null })),
  { field: 'employees', column: 'employees', coerce: coerceInt4, absent: null },
];

export const officerImporter: Importer<Row> = factImporter(officerTable, officerColumns);
export const financialImporter: Importer<Row> = factImporter(financialTable, financialColumns);

/** Of a source, whose accounts may name no currency. */
const sourcedColumns = {
  officer: officerColumns,
  financial: financialColumns.map((column) =>
    column.field === 'currency' ? { ...column, isRequired: false } : column,
  ),
} as const;

/** Returns the fact of a source without the values that its columns cannot hold, or why it says nothing without one. */
export function heldFact(
  entity: keyof typeof sourcedColumns,
  given: JsonRecord,
): { record: JsonRecord } | { problem: Problem } {
  const columns = sourcedColumns[entity];
  let record = given;
  for (;;) {
    const cells = readCells(columns, record, { dropped: {} });
    if (typeof cells === 'string') return { record };
    const column = columns.find(({ field }) => field === cells.field);
    if (column === undefined || column.isRequired) return { problem: cells };
    const { [column.field]: _, ...others } = record;
    record = others;
  }
}

function factImporter(table: FactTable, columns: readonly ImportColumn[]): Importer<Row> {
  return {
    knownFields: new Set([...companyFieldNames, ...columns.map((column) => column.field)]),
    createBatch: (context) => new FactBatch(table, columns, context.dropped),
  };
}

class FactBatch implements Batch<Row> {
  readonly #table: FactTable;
  readonly #columns: readonly ImportColumn[];
  readonly #dropped: Record<string, number>;
  readonly #rows: Row[] = [];

  constructor(table: FactTable, columns: readonly ImportColumn[], dropped: Record<string, number>) {
    this.#table = table;
    this.#columns = columns;
    this.#dropped = dropped;
  }

  add({ record, line, source }: SourceRecord): Problem | null {
    const company = companyOf(record);
    if ('reason' in company) return company;
    const cells = readCells(this.#columns, record, { dropped: this.#dropped });
    if (typeof cells !== 'string') return cells;
    this.#rows.push({ line, source, cells, ...company });
    return null;
  }

  rows(): Row[] {
    return this.#rows;
  }

  async merge(tx: Sql, rows: readonly Row[]): Promise<MergeResult> {
    await createFactStage(tx, this.#table);
    const columns = factColumns(this.#table);
    const lines = rows.map(
      ({ registryNumber, companyId, cells }, ordinal) =>
        `${[ordinal, registryNumber, companyId].map(copyCell).join('\t')}\t${cells}\n`,
    );
    await copyInto(tx, { table: 'stage_facts', columns }, lines);
    const unresolved = await resolveCompanies(tx);
    const rejected = unresolved.map(({ ordinal, companies }) => ({
      row: must(rows[ordinal], 'staged row'),
      problem: {
        field: 'registryNumber',
        reason: companies === 0 ? 'no_such_company' : 'more_than_one_company',
      },
    }));
    return { ...(await mergeFacts(tx, this.#table)), rejected };
  }
}

/**
 * Returns the company by id (`companyId`, `company`), otherwise by registry number (`registryNumber`, `company`).
 */
function companyOf(
  given: JsonRecord,
): { registryNumber: string | null; companyId: number | null } | Problem {
  const record = withRegistryCountry(given);
  const company = asObject(record.company)?.id ?? record.company;
  const isNumber = typeof company === 'number';
  const id = isAbsent(record.companyId) && isNumber ? company : record.companyId;
  if (!isAbsent(id)) {
    const companyId = coerceRecordId(id);
    return typeof companyId === 'number'
      ? { registryNumber: null, companyId }
      : { field: 'companyId', reason: companyId.reason };
  }
  const text = isAbsent(record.registryNumber) ? company : record.registryNumber;
  if (isAbsent(text)) return { field: 'companyId', reason: 'missing' };
  const country = isAbsent(record.registryCountry) ? 'GB' : String(record.registryCountry);
  const normalised = normaliseIdentifier('registry_number', String(text), {
    subject: 'company',
    registryCountry: country,
  });
  return 'values' in normalised
    ? { registryNumber: normalised.values[0], companyId: null }
    : { field: 'registryNumber', reason: normalised.reason };
}

function coerceMonth(value: unknown): number | Unreadable {
  return coerceInteger(value, 1, 12);
}

/** ISO 4217: three letters. */
function coerceCurrency(value: unknown): string | Unreadable {
  const code = String(value).trim().toUpperCase();
  return /^[A-Z]{3}$/.test(code) ? code : new Unreadable('not_a_currency');
}
