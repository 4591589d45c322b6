/** Statements about the log of changes of the graph, which triggers write. */
import type { Sql } from '../db/client.ts';

/** Days for which changes are kept: a copy that lacks older ones is dropped. */
const CHANGES_KEEP_DAYS = 7;
/** The last changes are kept whatever their age: a quiet graph does not end its copies. */
const CHANGES_KEPT_MIN = 1_000;

/** Deletes old changes of the graph that `sql` sees. */
export async function deleteOldChanges(sql: Sql): Promise<void> {
  await sql`
    with ended as (
      delete from graph_changes
      where changed_at < now() - make_interval(days => ${CHANGES_KEEP_DAYS})
        and number <= (select max(number) from graph_changes) - ${CHANGES_KEPT_MIN}
      returning number)
    delete from changed_records where number in (select number from ended)`;
}
