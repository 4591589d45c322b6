/** Reads people by id, as outcomes: a person who was deleted or opted out since the id was stored is a miss. */
import type { Sql } from '../db/client.ts';
import { endOfCell } from '../graph/record.ts';
import { miss, type Outcome } from './enrich-many.ts';
import { bytesWithoutMobile } from './mobile-in-records.ts';
import { RECORD_SEPARATOR, readPersonRecordsInOrder, SUPPRESSED_MARK } from './records.sql.ts';

/**
 * Reads the people of the graph that `sql` sees. The ids ascend, and the outcomes are in their order. `brief`
 * leaves long cells empty (see `needsOnlyBrief`), `hidesMobile` the mobile number. A deleted person is `no_match`.
 */
export async function readPeople(
  sql: Sql,
  ids: readonly number[],
  { brief, hidesMobile }: { brief: boolean; hidesMobile: boolean },
): Promise<Outcome[]> {
  if (ids.length === 0) return [];
  const outcomes: Outcome[] = [];
  const deleted = miss('no_match', '', 'deleted');
  for (const records of await readPersonRecordsInOrder(sql, ids, brief)) {
    let from = 0;
    while (from < records.length) {
      const end = records.indexOf(RECORD_SEPARATOR, from);
      const to = end === -1 ? records.length : end;
      const id = idAt(records, from);
      while (outcomes.length < ids.length && ids[outcomes.length] !== id) outcomes.push(deleted);
      outcomes.push(outcomeOf(id, records, from, to, hidesMobile));
      from = to + 1;
    }
  }
  while (outcomes.length < ids.length) outcomes.push(deleted);
  return outcomes;
}

/** Parses the first cell of a record. */
function idAt(bytes: Buffer, from: number): number {
  return Number(bytes.toString('latin1', from, endOfCell(bytes, from, bytes.length)));
}

function outcomeOf(
  id: number,
  bytes: Buffer,
  from: number,
  to: number,
  hidesMobile: boolean,
): Outcome {
  if (bytes[to - 1] === SUPPRESSED_MARK) return miss('suppressed', '', 'opted_out');
  const stored = { bytes, from, to };
  const person = hidesMobile ? bytesWithoutMobile(stored) : stored;
  return {
    status: 'matched',
    by: '',
    reason: '',
    conflict: false,
    candidates: 1,
    id,
    agrees: '',
    match: { person, company: null, directors: null, periods: null },
  };
}
