/** Statements about published copies of the live graph: which one is whole, who writes the next one, which must go. */
import type { Sql } from '../db/client.ts';
import { isHeld, leaseEnd } from '../db/lease.ts';
import type { GraphState } from '../graph/graph-state.ts';
import { hasWithdrawnSince } from './copy.sql.ts';

/** Longer than the upload of one piece takes, on a network that is worth it. */
const LEASE_SECONDS = 300;
/** A published copy with a person who withdrew is published again by then, or deleted. */
const WITHDRAWN_MINUTES_MAX = 40;
/** Minutes after a withdrawal at which an audit finds it in a published copy. */
const AUDIT_MINUTES = 60;

export interface PublishedCopy extends GraphState {
  id: string;
  /** The state of the graph up to which it has no person who withdrew. */
  wipedTo: number;
  /** Text of the manifest of the copy that was published: see `parseManifest`. */
  manifest: string;
  bytes: number;
  publishedAt: Date;
  secondsAgo: number;
  /** True when all changes since its state are listed, so that it can be rolled forward. */
  isReachable: boolean;
  /** True when a person withdrew after `wipedTo`. */
  hasWithdrawn: boolean;
}

/** Returns the published copy; null without one. */
export async function readPublished(sql: Sql): Promise<PublishedCopy | null> {
  const [row] = await sql<PublishedCopy[]>`
    select id, number, token, wiped_to, manifest, bytes, published_at,
      extract(epoch from now() - published_at)::float8 as seconds_ago,
      ${isReachable(sql)} as is_reachable, ${hasWithdrawnSince(sql, sql`p.wiped_to`)} as has_withdrawn
    from published_copies p where lease_expires_at is null`;
  return row ?? null;
}

/** Condition: the changes since the state of `p` are listed, in its history. */
function isReachable(sql: Sql): ReturnType<Sql> {
  return sql`(exists (select from graph_changes g where g.number = p.number and g.token = p.token)
    and not exists (select from graph_changes g where g.number > p.number and g.is_whole))`;
}

/** Returns the names of the objects of a published copy, in the order of its files; null when it is no longer the present one. */
export async function readPieces(sql: Sql, id: string): Promise<string[] | null> {
  const [row] = await sql<{ pieces: string[] }[]>`
    select pieces from published_copies where id = ${id}::uuid and lease_expires_at is null`;
  return row?.pieces ?? null;
}

export interface Claim {
  id: string;
  /** The published copy that the new one replaces. */
  base: { id: string; pieces: string[] } | null;
}

/**
 * Begins to publish a copy in this state, without people who withdrew up to `wipedTo`, in place of the published copy
 * `replaces` (null for none). Returns null while another worker publishes one or when another one has replaced it, and when
 * the copy has to follow the graph first: a person withdrew since, or the state is not of this history.
 */
export async function claimPublishing(
  sql: Sql,
  { number, token, wipedTo, replaces }: GraphState & { wipedTo: number; replaces: string | null },
): Promise<Claim | null> {
  const [own] = await sql<{ id: string }[]>`
    insert into published_copies as p (number, token, wiped_to, lease_expires_at)
    select number, token, ${wipedTo}, ${leaseEnd(sql, LEASE_SECONDS)}
    from graph_changes where number = ${number} and token = ${token}::uuid
      and not ${hasWithdrawnSince(sql, sql`${wipedTo}`)}
    on conflict ((lease_expires_at is null)) do update
      set id = excluded.id, number = excluded.number, token = excluded.token, wiped_to = excluded.wiped_to,
        lease_expires_at = excluded.lease_expires_at
      where not ${isWholeOrHeld(sql)}
    returning id`;
  if (own === undefined) return null;
  const [base] = await sql<{ id: string; pieces: string[] }[]>`
    select id, pieces from published_copies where lease_expires_at is null`;
  if ((base?.id ?? null) === replaces) return { id: own.id, base: base ?? null };
  await deletePublished(sql, own.id);
  return null;
}

/** Condition: `p` is whole, or its lease is held. */
function isWholeOrHeld(sql: Sql): ReturnType<Sql> {
  return sql`coalesce(${isHeld(sql, sql`p.lease_expires_at`, LEASE_SECONDS)}, true)`;
}

/** Renews the lease; returns false when it is lost. */
export async function renewPublishing(sql: Sql, id: string): Promise<boolean> {
  const { count } = await sql`
    update published_copies p set lease_expires_at = ${leaseEnd(sql, LEASE_SECONDS)}
    where id = ${id}::uuid and lease_expires_at is not null and ${isWholeOrHeld(sql)}`;
  return count === 1;
}

/**
 * Makes the copy of a lease the published one; returns false when the lease is lost. Its base is deleted before, in the
 * transaction.
 */
export async function finishPublishing(
  tx: Sql,
  id: string,
  { manifest, bytes, pieces }: { manifest: string; bytes: number; pieces: string[] },
): Promise<boolean> {
  const { count } = await tx`
    update published_copies p set lease_expires_at = null, published_at = now(), manifest = ${manifest},
      bytes = ${bytes}, pieces = ${pieces}::text[]
    where id = ${id}::uuid and lease_expires_at is not null and ${isWholeOrHeld(tx)}`;
  return count === 1;
}

/** Ends a published copy, or the lease of one that is not whole. Returns false when it has ended. */
export async function deletePublished(sql: Sql, id: string): Promise<boolean> {
  const { count } = await sql`delete from published_copies where id = ${id}::uuid`;
  return count === 1;
}

/** Ends all published copies, or those that may have people who withdrew up to this state. Returns how many. */
export async function deleteAllPublished(sql: Sql, before?: number): Promise<number> {
  return deleteThose(sql, before === undefined ? sql`true` : sql`wiped_to < ${before}`);
}

/** Ends published copies, and leases. The published one is locked first, as by `finishPublishing` and what comes before it. */
async function deleteThose(sql: Sql, condition: ReturnType<Sql>): Promise<number> {
  const { count } = await sql`
    with locked as materialized (
      select id from published_copies p where ${condition}
      order by lease_expires_at is null desc for update)
    delete from published_copies where id in (select id from locked)`;
  return count;
}

/**
 * Ends published copies that can no longer be used, those, complete or not, that have had people who withdrew for forty
 * minutes, and leases that have expired. Returns how many. The time of a change is that of the beginning of its transaction,
 * and may be of an earlier change of the same person: a copy may end too early, never too late.
 */
export async function deleteOutdated(sql: Sql): Promise<number> {
  const count = await deleteThose(
    sql,
    sql`(not ${isWholeOrHeld(sql)} or not ${isReachable(sql)}
      or ${hasWithdrawnSince(sql, sql`p.wiped_to`, WITHDRAWN_MINUTES_MAX)})`,
  );
  // The next look has fewer changes to read.
  await sql`
    update published_copies p set wiped_to = last.number
    from (select max(number) as number from graph_changes) last
    where lease_expires_at is null and p.wiped_to < last.number
      and not ${hasWithdrawnSince(sql, sql`p.wiped_to`)}`;
  return count;
}

/** Returns the names of the objects that count, and the ids of copies that a worker writes. */
export async function readNamed(sql: Sql): Promise<{ pieces: string[]; written: string[] }> {
  const rows = await sql<{ id: string; pieces: string[] | null }[]>`
    select id, pieces from published_copies`;
  return {
    pieces: rows.flatMap(({ pieces }) => pieces ?? []),
    written: rows.flatMap(({ id, pieces }) => (pieces === null ? [id] : [])),
  };
}

/** Counts published copies that keep people who withdrew an hour ago. */
export async function countPublishedViolations(
  tx: Sql,
): Promise<{ name: string; violations: number }[]> {
  const [row] = await tx<{ violations: number }[]>`
    select count(*)::int as violations from published_copies p
    where ${hasWithdrawnSince(tx, tx`p.wiped_to`, AUDIT_MINUTES)}`;
  return [
    {
      name: 'no published copy of the graph keeps a person who withdrew an hour ago',
      violations: row?.violations ?? 0,
    },
  ];
}
