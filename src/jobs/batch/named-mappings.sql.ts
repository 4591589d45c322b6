/** Statements about mappings that an account keeps under a name. */
import type { Owner } from '../../core/accounts/owner.ts';
import type { Sql } from '../../core/db/client.ts';
import type { OperationName } from '../../core/operations.ts';

export interface NamedMapping {
  id: string;
  name: string;
  operation: OperationName;
  /** Names of columns by kind. */
  columns: Record<string, string[]>;
  createdAt: Date;
}

/**
 * Keeps a mapping; it takes the place of one with its name and operation. Undefined when the account has `max` others.
 * Call in a transaction.
 */
export async function saveNamedMapping(
  sql: Sql,
  { accountId, live }: Owner,
  { id, name, operation, columns }: Omit<NamedMapping, 'createdAt'>,
  max: number,
): Promise<NamedMapping | undefined> {
  // Two at once must not both be the last one.
  await sql`select from accounts where id = ${accountId} for no key update`;
  const [saved] = await sql<NamedMapping[]>`
    insert into named_mappings (id, account_id, live, operation, name, columns)
    select ${id}, ${accountId}, ${live}, ${operation}, ${name}, ${sql.json(columns)}
    where (
      select count(*) from named_mappings
      where account_id = ${accountId} and live = ${live}
        and (operation, name) <> (${operation}, ${name})) < ${max}
    on conflict (account_id, live, operation, name) do update set columns = excluded.columns
    returning id, name, operation, columns, created_at`;
  return saved;
}

/**
 * A page of an account's mappings, newest first; `before` is the last id of the previous page. It ends with the one with which
 * their names have more than `bytesMax`.
 */
export async function listNamedMappings(
  sql: Sql,
  { accountId, live }: Owner,
  page: { operation: string | null; before: string | null; limit: number; bytesMax: number },
): Promise<NamedMapping[]> {
  return sql<NamedMapping[]>`
    select id, name, operation, columns, created_at from (
      select *, sum(octet_length(columns::text)) over (order by id desc)
        - octet_length(columns::text) as bytes_before
      from named_mappings
      where account_id = ${accountId} and live = ${live}
        and (${page.operation}::text is null or operation = ${page.operation})
        and (${page.before}::uuid is null or id < ${page.before}::uuid)) mapping
    where bytes_before <= ${page.bytesMax} order by id desc limit ${page.limit}`;
}

/** Deletes a mapping of the account. False when there is none with this id. */
export async function deleteNamedMapping(
  sql: Sql,
  { accountId, live }: Owner,
  id: string,
): Promise<boolean> {
  const deleted = await sql`
    delete from named_mappings
    where id = ${id} and account_id = ${accountId} and live = ${live} returning id`;
  return deleted.length > 0;
}
