import type { Sql } from '../db/client.ts';
import type { KeyMode } from './key-format.ts';

/** A stored key as the rest of the service sees it. */
export interface ApiKey {
  id: string;
  accountId: string;
  mode: KeyMode;
  prefix: string;
  scopes: string[];
  requestsPerMinute: number;
  requestsPerDay: number;
  rowsPerMinute: number | null;
  createdAt: Date;
  revokedAt: Date | null;
}

export interface NewKey {
  id: string;
  accountId: string;
  mode: KeyMode;
  prefix: string;
  keySha256: Buffer;
  scopes: string[];
  requestsPerMinute: number;
  requestsPerDay: number;
  rowsPerMinute: number | null;
}

/** Stores a key. Throws when the account does not exist. */
export async function insertKey(sql: Sql, key: NewKey): Promise<void> {
  await sql`insert into api_keys ${sql({ ...key })}`;
}

/** The key with this hash, revoked or not. */
export async function findKeyByHash(sql: Sql, keySha256: Buffer): Promise<ApiKey | undefined> {
  const [key] = await sql<ApiKey[]>`
    select id, account_id, mode, prefix, scopes, requests_per_minute, requests_per_day,
      rows_per_minute, created_at, revoked_at
    from api_keys where key_sha256 = ${keySha256}`;
  return key;
}

/** Revokes the keys with this prefix; returns their ids. A key already revoked is left as it is. */
export async function revokeKeysByPrefix(sql: Sql, prefix: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    update api_keys set revoked_at = now()
    where prefix = ${prefix} and revoked_at is null returning id`;
  return rows.map((row) => row.id);
}
