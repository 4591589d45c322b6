/** Statements about filters that an account keeps under a name. */
import type { Owner } from '../accounts/owner.ts';
import type { Sql } from '../db/client.ts';

export interface SavedSearch {
  id: string;
  name: string;
  /** A query string, as sent. */
  filter: string;
  createdAt: Date;
}

/**
 * Keeps a filter; it takes the place of the one with its name. Undefined when the account has `max` others. Call in a
 * transaction.
 */
export async function insertSavedSearch(
  sql: Sql,
  { accountId, live }: Owner,
  { id, name, filter }: Omit<SavedSearch, 'createdAt'>,
  max: number,
): Promise<SavedSearch | undefined> {
  // Two at once must not both be the last one.
  await sql`select from accounts where id = ${accountId} for no key update`;
  const [saved] = await sql<SavedSearch[]>`
    insert into saved_searches (id, account_id, live, name, filter)
    select ${id}, ${accountId}, ${live}, ${name}, ${filter}
    where (
      select count(*) from saved_searches
      where account_id = ${accountId} and live = ${live} and name <> ${name}) < ${max}
    on conflict (account_id, live, name) do update set filter = excluded.filter
    returning id, name, filter, created_at`;
  return saved;
}

/**
 * A page of an account's saved searches, newest first; `before` is the last id of the previous page. It ends with the one with
 * which their filters have more than `bytesMax`.
 */
export async function listSavedSearches(
  sql: Sql,
  { accountId, live }: Owner,
  page: { before: string | null; limit: number; bytesMax: number },
): Promise<SavedSearch[]> {
  return sql<SavedSearch[]>`
    select id, name, filter, created_at from (
      select *, sum(octet_length(filter)) over (order by id desc) - octet_length(filter) as bytes_before
      from saved_searches
      where account_id = ${accountId} and live = ${live}
        and (${page.before}::uuid is null or id < ${page.before}::uuid)) search
    where bytes_before <= ${page.bytesMax} order by id desc limit ${page.limit}`;
}

/** Deletes a saved search of the account. False when there is none with this id. */
export async function deleteSavedSearch(
  sql: Sql,
  { accountId, live }: Owner,
  id: string,
): Promise<boolean> {
  const deleted = await sql`
    delete from saved_searches
    where id = ${id} and account_id = ${accountId} and live = ${live} returning id`;
  return deleted.length > 0;
}
