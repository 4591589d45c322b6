/** Statements about the last use of keys. */
import type { Sql } from '../db/client.ts';

/** Records that a key is used now. */
export async function upsertKeyUse(sql: Sql, keyId: string): Promise<void> {
  await sql`
    insert into key_uses (key_id, used_at) values (${keyId}, clock_timestamp())
    on conflict (key_id) do update set used_at = greatest(key_uses.used_at, excluded.used_at)`;
}
