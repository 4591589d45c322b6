/** The companies that hold an identifier of a row, and their records: what decides whether the row means them. */
import type { IdentifierKind } from '../identifiers/identifier.ts';
import type { CompanyReader } from './company-reader.ts';
import type { RecordBytes } from './match-data.ts';
import type { Hits, RowInput } from './outcomes.ts';

/** Ids of companies by the index of a row; rows without any are left out. */
export type Holders = Map<number, Set<number>>;

/** Records of companies by their ids; undefined for a deleted one. */
export type CompanyRecords = ReadonlyMap<number, RecordBytes | undefined>;

/** Returns true for a value of a row that may be held by companies which the row does not mean. */
export type IsUnsure = (
  row: RowInput,
  kind: IdentifierKind,
  value: string,
  index: number,
) => boolean;

/**
 * Returns the companies that hold a value for which `isUnsure` is true.
 * @param firstLines the look-up line of the first value of each row
 */
export function findHolders(
  rows: readonly RowInput[],
  firstLines: Int32Array,
  hits: Hits,
  isUnsure: IsUnsure,
): Holders {
  const holders: Holders = new Map();
  for (const [index, row] of rows.entries()) {
    const ids = new Set<number>();
    forEachLine(row, firstLines[index] ?? 0, (line, kind, value) => {
      if (!isUnsure(row, kind, value, index)) return;
      hits.forEach(line, (_, id) => {
        ids.add(id);
      });
    });
    if (ids.size > 0) holders.set(index, ids);
  }
  return holders;
}

/** Reads the records of all these companies at once. */
export async function readHolders(
  companies: CompanyReader,
  holders: readonly Holders[],
): Promise<CompanyRecords> {
  const ids = idsOf(holders);
  if (ids.length === 0) return new Map();
  const records = await companies.read(ids, { keep: (texts) => texts });
  return new Map(ids.map((id, place) => [id, records[place]]));
}

/** Returns the ids of the companies, each once. */
export function idsOf(holders: readonly Holders[]): number[] {
  return [...new Set(holders.flatMap((held) => [...held.values()].flatMap((ids) => [...ids])))];
}

/** Calls back with the look-up line of each value of a row. */
export function forEachLine(
  { identifiers }: RowInput,
  firstLine: number,
  visit: (line: number, kind: IdentifierKind, value: string) => void,
): void {
  let line = firstLine;
  for (const { kind, values } of identifiers) {
    for (const value of values) visit(line++, kind, value);
  }
}
