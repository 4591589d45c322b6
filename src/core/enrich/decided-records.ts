/** The records that callers name by id: candidates that they chose, and records that they reconciled. */
import type { Sql } from '../db/client.ts';
import { entityCodes } from '../graph/sources/source-record.ts';
import { type OperationName, operations } from '../operations.ts';
import type { RowInput } from './outcomes.ts';
import { selectMerged } from './records.sql.ts';

/** Returns the rows with the present ids of their records: an import may have joined one with another since it was told. */
export async function withPresentRecords(
  sql: Sql,
  operation: OperationName,
  rows: readonly RowInput[],
): Promise<readonly RowInput[]> {
  const ids: number[] = [];
  for (const { decided = 0 } of rows) if (decided !== 0) ids.push(decided);
  if (ids.length === 0) return rows;
  const merged = await selectMerged(sql, entityCodes[operations[operation].subject], ids);
  if (merged.length === 0) return rows;
  const present = new Map(merged.map(({ id, intoId }) => [id, intoId]));
  return rows.map((row) => {
    const decided = present.get(row.decided ?? 0);
    return decided === undefined ? row : { ...row, decided };
  });
}
