/** Statements about uploads that callers put directly into the object store. */

import type { Owner } from '../../core/accounts/owner.ts';
import type { Sql } from '../../core/db/client.ts';
import { must } from '../../core/lib/assert.ts';

/** How long an upload can become a batch; then it is deleted. */
const UPLOAD_KEEP_SECONDS = 24 * 60 * 60;

export interface Upload {
  id: string;
  key: string;
  createdAt: Date;
  usedAt: Date | null;
}

/** Records an upload before its URL is returned; returns its expiry. */
export async function insertUpload(
  sql: Sql,
  upload: Owner & { id: string; key: string },
): Promise<Date> {
  const [row] = await sql<{ expiresAt: Date }[]>`
    insert into uploads ${sql({ ...upload })}
    returning created_at + make_interval(secs => ${UPLOAD_KEEP_SECONDS}) as expires_at`;
  return must(row, `upload ${upload.id}`).expiresAt;
}

/** Finds an unexpired upload of this owner; another owner's is not found. */
export async function findOwnUpload(
  sql: Sql,
  owner: Owner,
  id: string,
): Promise<Upload | undefined> {
  const [upload] = await sql<Upload[]>`
    select id, key, created_at, used_at from uploads
    where id = ${id} and account_id = ${owner.accountId} and live = ${owner.live}
      and created_at > now() - make_interval(secs => ${UPLOAD_KEEP_SECONDS})`;
  return upload;
}

/** Marks an upload as used. False when it was already used or deleted. */
export async function markUploadUsed(sql: Sql, id: string): Promise<boolean> {
  const marked = await sql`
    update uploads set used_at = now() where id = ${id} and used_at is null returning id`;
  return marked.length > 0;
}

/**
 * Returns which of these keys of uploads have ended: used, expired, or unknown, because the row of an expired upload is
 * deleted.
 */
export async function findUploads(
  sql: Sql,
  keys: readonly string[],
): Promise<{ key: string; isKnown: boolean; isOver: boolean }[]> {
  return sql<{ key: string; isKnown: boolean; isOver: boolean }[]>`
    select key, id is not null as is_known, id is null or used_at is not null or ${isExpired(sql)} as is_over
    from unnest(${[...keys]}::text[]) given (key) left join uploads using (key)`;
}

/** Deletes the rows of uploads that had expired at this time, except those with the keys in `passed`. */
export async function deleteUploadsExpiredAt(
  sql: Sql,
  at: Date,
  passed: readonly string[],
): Promise<void> {
  await sql`
    delete from uploads
    where ${isExpired(sql, sql`${at}::timestamptz`)} and key <> all(${[...passed]}::text[])`;
}

function isExpired(sql: Sql, at = sql`now()`): ReturnType<Sql> {
  return sql`created_at <= ${at} - make_interval(secs => ${UPLOAD_KEEP_SECONDS})`;
}
