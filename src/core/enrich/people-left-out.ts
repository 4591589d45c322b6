/** The people whom a row does not mean although they hold one of its identifiers: those who opted out. */
import type { Sql } from '../db/client.ts';
import { kindNames } from '../identifiers/identifier.ts';
import { optedOutAmong } from '../suppression/opted-out-people.ts';
import type { Hits, LeftOut, RowInput } from './outcomes.ts';

/**
 * Returns what finds the people to leave out of the row at an index; undefined for none. Asks only about rows whose identifiers
 * several people hold: who alone is found is read next, and found to have opted out.
 * @param firstLines the look-up line of the first value of each row
 */
export async function peopleLeftOut(
  sql: Sql,
  rows: readonly RowInput[],
  firstLines: Int32Array,
  hits: Hits,
): Promise<(index: number) => LeftOut | undefined> {
  const asked = new Set<number>();
  const shared = new Set<number>();
  for (let index = 0; index < rows.length; index++) {
    const ids = holdersOf(rows[index], firstLines[index] ?? 0, hits);
    if (ids === null) continue;
    shared.add(index);
    for (const id of ids) asked.add(id);
  }
  if (asked.size === 0) return () => undefined;
  const hidden = new Set(await optedOutAmong(sql, [...asked]));
  if (hidden.size === 0) return () => undefined;
  const leftOut: LeftOut = Object.fromEntries(kindNames.map((kind) => [kind, hidden]));
  return (index) => (shared.has(index) ? leftOut : undefined);
}

/** The people who hold one of the row's values; null for fewer than two. */
function holdersOf(row: RowInput | undefined, firstLine: number, hits: Hits): Set<number> | null {
  let first = 0;
  let ids: Set<number> | null = null;
  let line = firstLine;
  for (const { values } of row?.identifiers ?? []) {
    for (let value = 0; value < values.length; value++, line++) {
      hits.forEach(line, (_, id) => {
        if (first === 0) first = id;
        else if (id !== first) ids = (ids ?? new Set([first])).add(id);
      });
    }
  }
  return ids;
}
