/**
 * The stored records of new companies, made of the cells that are copied into their table: the same as
 * `renderCompanyRecords` writes, without the work of Postgres.
 */
import type { Sql } from '../../db/client.ts';
import { copyInto } from '../../db/copy-into.ts';
import { must } from '../../lib/assert.ts';
import { companyFields } from '../fields.ts';
import { readShown, type ShownField } from '../graph.sql.ts';
import { CELL_SEPARATOR } from '../record.ts';
import { companyColumns } from './company-row.ts';
import { copyCell } from './copy-text.ts';

/** COPY cells of a company, in the order of its columns. */
type Cells = readonly string[];

const idFields = {
  industries: 'industryId',
  cities: 'cityId',
  regions: 'regionId',
  countries: 'countryId',
} as const satisfies Record<ShownField, string>;
const shownFields = Object.keys(idFields) as ShownField[];

const placeOf = (field: string) => {
  const place = companyColumns.findIndex((column) => column.field === field);
  return must(place < 0 ? undefined : place, field);
};
const ABSENT = '\\N';

/** The origin of each cell of a record: a column, or the row that is shown for the id in a column. */
const partsOfRecord = companyFields.map(({ name, column, type }) => {
  const shown = column === undefined ? (name as ShownField) : null;
  const place = placeOf(shown === null ? name : idFields[shown]);
  return { place, shown, isList: shown === null && type === 'json' };
});

/** COPY cells that show a row, by the cell of its id. */
type ShownCells = Readonly<Record<ShownField, ReadonlyMap<string, string>>>;

/** Writes the records of companies that have none yet. The cells have all times. */
export async function copyCompanyRecords(tx: Sql, companies: readonly Cells[]): Promise<void> {
  const shown = await readShownOf(tx, companies);
  const target = { table: 'company_records', columns: ['id', 'record'] };
  // The rows of neighbours are neighbours.
  const inOrder = companies.toSorted((a, b) => Number(a[0]) - Number(b[0]));
  await copyInto(tx, target, linesOf(inOrder, shown));
}

async function readShownOf(tx: Sql, companies: readonly Cells[]): Promise<ShownCells> {
  const idsOf = (field: ShownField): number[] => {
    const place = placeOf(idFields[field]);
    const ids = new Set(companies.map((cells) => cells[place]));
    ids.delete(ABSENT);
    return [...ids].map(Number);
  };
  const ids = Object.fromEntries(shownFields.map((field) => [field, idsOf(field)]));
  const rows = await readShown(tx, ids as Record<ShownField, number[]>);
  const cellsOf = (of: ShownField) =>
    rows.flatMap(({ field, id, object }) =>
      field === of ? [[String(id), copyCell(object)] as const] : [],
    );
  const cells = shownFields.map((field) => [field, new Map(cellsOf(field))] as const);
  return Object.fromEntries(cells) as unknown as ShownCells;
}

function* linesOf(companies: readonly Cells[], shown: ShownCells): Generator<string> {
  const record = new Array<string>(partsOfRecord.length);
  for (const cells of companies) {
    for (let at = 0; at < partsOfRecord.length; at++) {
      record[at] = cellOfRecord(partsOfRecord[at] as Part, cells, shown);
    }
    yield `${cells[0]}\t${record.join(CELL_SEPARATOR)}\n`;
  }
}

type Part = (typeof partsOfRecord)[number];

function cellOfRecord(
  { place, shown: field, isList }: Part,
  cells: Cells,
  shown: ShownCells,
): string {
  const cell = cells[place] as string;
  if (cell === ABSENT) return '';
  if (field !== null) return shown[field].get(cell) ?? '';
  return isList ? listAsJson(cell) : cell;
}

const COPY_ESCAPE = /\\(.)/g;
const controls: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r' };

/** Returns the cell of an array, `{"a","b"}`, as that of a JSON list; '' when it is empty. */
function listAsJson(cell: string): string {
  if (cell === '{}') return '';
  if (!cell.includes('\\')) return `[${cell.slice(1, -1)}]`;
  const array = cell.replace(COPY_ESCAPE, (_, letter: string) => controls[letter] ?? letter);
  // Both escape quotes and backslashes alike; of the controls a clean text has only these.
  const json = array.slice(1, -1).replace(/[\t\n\r]/g, (one) => JSON.stringify(one).slice(1, -1));
  return copyCell(`[${json}]`);
}
