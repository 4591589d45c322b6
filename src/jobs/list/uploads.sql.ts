/** Statements about uploads that callers put into the object storage themselves. */

import type { Owner } from '../../core/accounts/owner.ts';
import type { Sql } from '../../core/db/client.ts';
import { must } from '../../core/lib/assert.ts';

/** An upload can become a batch for so long; then it is deleted. */
const uploadKeepSeconds = 24 * 60 * 60;

export interface Upload {
  id: string;
  key: string;
  createdAt: Date;
  usedAt: Date | null;
}

/** Records an upload before its address is given out; returns when it expires. */
export async function insertUpload(
  sql: Sql,
  upload: Owner & { id: string; key: string },
): Promise<Date> {
  const [row] = await sql<{ expiresAt: Date }[]>`
    insert into uploads ${sql({ ...upload })}
    returning created_at + make_interval(secs => ${uploadKeepSeconds}) as expires_at`;
  return must(row, `upload ${upload.id}`).expiresAt;
}

/** An upload of this owner that has not expired; anybody else's is not found. */
export async function findOwnUpload(
  sql: Sql,
  owner: Owner,
  id: string,
): Promise<Upload | undefined> {
  const [upload] = await sql<Upload[]>`
    select id, key, created_at, used_at from uploads
    where id = ${id} and account_id = ${owner.accountId} and live = ${owner.live}
      and created_at > now() - make_interval(secs => ${uploadKeepSeconds})`;
  return upload;
}

/** Uses an upload up. False when another batch was made of it, or it has been deleted. */
export async function markUploadUsed(sql: Sql, id: string): Promise<boolean> {
  const marked = await sql`
    update uploads set used_at = now() where id = ${id} and used_at is null returning id`;
  return marked.length > 0;
}

/** Uploads that have expired, used or not, oldest first. */
export async function listExpiredUploads(sql: Sql): Promise<{ id: string; key: string }[]> {
  return sql<{ id: string; key: string }[]>`
    select id, key from uploads
    where created_at <= now() - make_interval(secs => ${uploadKeepSeconds})
    order by created_at limit 1000`;
}

/** Forgets uploads whose objects are gone. */
export async function deleteUploads(sql: Sql, ids: string[]): Promise<void> {
  await sql`delete from uploads where id = any(${ids}::uuid[])`;
}
