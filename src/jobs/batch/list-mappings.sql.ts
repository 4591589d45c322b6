/** Statements about the columns that an account chose for lists with a header. */
import { createHash } from 'node:crypto';
import type { Owner } from '../../core/accounts/owner.ts';
import type { Sql } from '../../core/db/client.ts';
import { type ColumnNumbers, columnNumbers } from '../../mapping/guess-columns.ts';
import type { ListBatch } from './batch.ts';

/** Headers of an account and mode whose columns are kept, those used last. */
const HEADERS_MAX = 500;

type MappedList = Pick<ListBatch, 'operation' | 'mapping' | 'dialect'>;

/** Keeps the columns chosen for lists with this header; a list without a header has none to be known by. */
export async function rememberMapping(sql: Sql, owner: Owner, list: MappedList): Promise<void> {
  const hash = hashOf(list);
  if (hash === null) return;
  const { accountId, live } = owner;
  const mapping = sql.json(columnNumbers(list.mapping));
  await sql`
    insert into list_mappings (account_id, live, operation, header_sha256, mapping)
    values (${accountId}, ${live}, ${list.operation}, ${hash}, ${mapping})
    on conflict (account_id, live, operation, header_sha256)
      do update set mapping = excluded.mapping, used_at = now()`;
  await sql`
    delete from list_mappings where (account_id, live, operation, header_sha256) in (
      select account_id, live, operation, header_sha256 from list_mappings
      where account_id = ${accountId} and live = ${live}
      order by used_at desc, operation, header_sha256 offset ${HEADERS_MAX})`;
}

/** The columns that the account chose last for a list with this header; undefined when it never did. */
export async function findRemembered(
  sql: Sql,
  { accountId, live, ...list }: Owner & MappedList,
): Promise<ColumnNumbers | undefined> {
  const hash = hashOf(list);
  if (hash === null) return undefined;
  const [found] = await sql<{ mapping: ColumnNumbers }[]>`
    select mapping from list_mappings
    where account_id = ${accountId} and live = ${live} and operation = ${list.operation}
      and header_sha256 = ${hash}`;
  return found?.mapping;
}

function hashOf({ dialect: { header } }: MappedList): Buffer | null {
  if (header === null) return null;
  return createHash('sha256').update(JSON.stringify(header)).digest();
}
