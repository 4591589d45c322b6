/** The companies that hold an identifier of a row, and their records: what decides whether the row means them. */
import type { IdentifierKind } from '../identifiers/identifier.ts';
import type { CompanyReader } from './company-reader.ts';
import type { RecordBytes } from './match-data.ts';
import type { Hits, RowInput } from './outcomes.ts';

export interface Holders {
  /** Ids by the index of a row; rows without any are left out. */
  held: Map<number, Set<number>>;
  records: ReadonlyMap<number, RecordBytes | undefined>;
}

/**
 * Reads the companies that hold the values for which `isAsked` is true.
 * @param firstLines the look-up line of the first value of each row
 */
export async function readHolders(
  companies: CompanyReader,
  rows: readonly RowInput[],
  firstLines: Int32Array,
  hits: Hits,
  isAsked: (row: RowInput, kind: IdentifierKind, value: string, index: number) => boolean,
): Promise<Holders> {
  const held = new Map<number, Set<number>>();
  for (const [index, row] of rows.entries()) {
    const ids = new Set<number>();
    forEachLine(row, firstLines[index] ?? 0, (line, kind, value) => {
      if (!isAsked(row, kind, value, index)) return;
      hits.forEach(line, (_, id) => {
        ids.add(id);
      });
    });
    if (ids.size > 0) held.set(index, ids);
  }
  const ids = [...new Set([...held.values()].flatMap((found) => [...found]))];
  if (ids.length === 0) return { held, records: new Map() };
  const read = await companies.read(ids, { keep: (texts) => texts });
  return { held, records: new Map(ids.map((id, place) => [id, read[place]])) };
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
