/** Reads people by id, as outcomes: a person who was deleted or opted out since the id was stored is a miss. */
import { matchOf, miss, type Outcome } from './enrich-many.ts';
import { bytesWithoutMobile } from './mobile-in-records.ts';
import type { PeopleReader } from './people-reader.ts';
import { dataOf } from './read-matches.ts';

/**
 * Reads people. The ids ascend, and the outcomes are in their order. `brief` leaves long cells empty (see
 * `needsOnlyBrief`), `hidesMobile` the mobile number. A deleted person is `no_match`.
 */
export async function readPeople(
  people: PeopleReader,
  ids: readonly number[],
  { brief, hidesMobile }: { brief: boolean; hidesMobile: boolean },
): Promise<Outcome[]> {
  const deleted = miss('no_match', '', 'deleted');
  const optedOut = miss('suppressed', '', 'opted_out');
  const stored = await people.readInOrder(ids, { brief });
  return ids.map((id, index) => {
    const person = stored[index];
    if (person === undefined) return deleted;
    if (person === 'opted_out') return optedOut;
    const record = hidesMobile ? bytesWithoutMobile(person) : person;
    return matchOf({ by: '', conflict: false, id }, dataOf(record, null), '');
  });
}
