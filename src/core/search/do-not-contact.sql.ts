import type { Owner } from '../accounts/owner.ts';
import type { Sql } from '../db/client.ts';

/** Contacts of a list: addresses by the SHA-256 of their canonical form, in hexadecimal, and domains. */
export interface ListedContacts {
  emailHashes: string[];
  domains: string[];
}

/** An entry of the list; either address or domain is null. */
export interface DoNotContact {
  id: number;
  emailSha256: Buffer | null;
  domain: string | null;
  createdAt: Date;
}

/** Adds entries that are not listed yet. Returns how many were added. */
export async function insertContacts(
  sql: Sql,
  { accountId, live }: Owner,
  { emailHashes, domains }: ListedContacts,
): Promise<number> {
  const rows = await sql`
    insert into do_not_contact (account_id, live, email_sha256, domain)
    select ${accountId}::uuid, ${live}::boolean, decode(hash, 'hex'), null
    from unnest(${emailHashes}::text[]) hash
    union all
    select ${accountId}::uuid, ${live}::boolean, null, domain
    from unnest(${domains}::text[]) domain
    on conflict do nothing returning id`;
  return rows.length;
}

/** Returns the number of entries, as maintained by the statements that change the list. */
export async function countContacts(sql: Sql, { accountId, live }: Owner): Promise<number> {
  const [list] = await sql<{ entries: number }[]>`
    select entries from do_not_contact_versions
    where account_id = ${accountId} and live = ${live}`;
  return list?.entries ?? 0;
}

/** Removes these entries, and reads no others. Returns how many were removed. */
export async function deleteContacts(
  sql: Sql,
  { accountId, live }: Owner,
  { emailHashes, domains }: ListedContacts,
): Promise<number> {
  // A condition with `or` reads the lists of all accounts for one entry.
  const deleted = await sql`
    delete from do_not_contact where id in (
      select d.id from unnest(${emailHashes}::text[]) given (hash) join do_not_contact d
        on d.account_id = ${accountId} and d.live = ${live} and d.email_sha256 = decode(given.hash, 'hex')
      union all
      select d.id from unnest(${domains}::text[]) given (domain) join do_not_contact d
        on d.account_id = ${accountId} and d.live = ${live} and d.email_sha256 is null
          and d.domain = given.domain)`;
  return deleted.count;
}

/** Returns a page of the list, newest first. */
export async function listContacts(
  sql: Sql,
  { accountId, live }: Owner,
  { before, limit }: { before: number | null; limit: number },
): Promise<DoNotContact[]> {
  return sql<DoNotContact[]>`
    select id, email_sha256, domain, created_at from do_not_contact
    where account_id = ${accountId} and live = ${live}
      and (${before}::bigint is null or id < ${before}::bigint)
    order by id desc limit ${limit}`;
}
