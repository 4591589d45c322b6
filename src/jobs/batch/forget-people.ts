/** Erasure of people from what lists with `dedupe` have matched. */
import type { Sql } from '../../core/db/client.ts';
import { deleteAnsweredPeople } from './reruns.sql.ts';

/** Forgets that lists have matched these people: a rerun does not know them any more. */
export async function forgetPeople(sql: Sql, ids: readonly number[]): Promise<void> {
  if (ids.length > 0) await deleteAnsweredPeople(sql, ids);
}
