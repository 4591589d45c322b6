/** The records that callers name by id: candidates that they chose, and records that they reconciled. */
import type { Sql } from '../db/client.ts';
import { findPresentIds } from '../graph/merged-ids.ts';
import { type OperationName, operations } from '../operations.ts';
import type { RowInput } from './outcomes.ts';

/**
 * Returns the rows with the present ids of their records: an import may have joined one with another since the row was
 * answered.
 */
export async function withPresentRecords(
  sql: Sql,
  operation: OperationName,
  rows: readonly RowInput[],
): Promise<readonly RowInput[]> {
  const ids: number[] = [];
  for (const { decided = 0 } of rows) if (decided !== 0) ids.push(decided);
  if (ids.length === 0) return rows;
  const present = await findPresentIds(sql, operations[operation].subject, ids);
  if (present.size === 0) return rows;
  return rows.map((row) => {
    const decided = present.get(row.decided ?? 0);
    return decided === undefined ? row : { ...row, decided };
  });
}
