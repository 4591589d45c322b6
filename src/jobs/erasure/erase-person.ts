/**
 * Erases a person: deletes the record, keeps the opt-out, rewrites results, and audits for traces. The record
 * is deleted after the results, so that an interrupted erasure can be repeated and still finds the person.
 */
import { setTimeout } from 'node:timers/promises';
import { disown } from '../../core/credits/owned.ts';
import type { Sql } from '../../core/db/client.ts';
import { deletePersons } from '../../core/graph/delete-persons.ts';
import { listStatedIdentifiers } from '../../core/graph/sources/stated-identifiers.ts';
import { withdrawPublished } from '../../core/graph-copy/published-objects.ts';
import { deleteResponsesAbout } from '../../core/idempotency/idempotency.ts';
import { notFound } from '../../core/lib/errors.ts';
import { forgetPlaces } from '../../core/search/page.ts';
import { isAbandonedWrite } from '../../core/storage/abandoned-write.ts';
import { bareCodes, suppressPeople } from '../../core/suppression/suppress.ts';
import { forgetPeople } from '../batch/forget-people.ts';
import { deleteAbandonedParts } from '../result/delete-abandoned.ts';
import { redactAllResults } from '../result/redact-results.ts';
import { auditErasure, type ErasureAudit, type ErasureContext } from './audit-erasure.ts';
import {
  type AfterDeletion,
  isKnown,
  listFormerHashes,
  listHostsBehind,
  listIdentifiers,
  listJoined,
  listWriters,
  readLastChange,
} from './erasure.sql.ts';
import { findOnePerson, ownIdentifiers, type PersonAsked } from './find-person.ts';

export interface Erasure extends ErasureAudit {
  /** Deleted people: 1, or 0 for a person who was no longer stored. */
  erased: number;
  /** Rewritten parts of results, plus cleared idempotent responses. */
  parts_rewritten: number;
  answers_cleared: number;
}

/** As after a restore, for a person who was imported since the backup. */
const UNKNOWN =
  'No one has this id, nor had it. A person who is imported again gets another one: erase by an identifier.';

/** Workers overwrite the person in their copy with the next beat, in five seconds. A build may take longer. */
const COPIES_WAIT_MS = 60_000;
const COPIES_POLL_MS = 500;

/**
 * Erases a person from the live graph. An identifier that no stored person has is still recorded as an opt-out and searched for.
 * Throws `AppError` 409 `ambiguous_match` when several people share it, and 404 for an id that no one has or had: in a restored
 * graph the person may be imported again under another one.
 */
export async function erasePerson(
  context: ErasureContext,
  asked: PersonAsked,
  waitMs = COPIES_WAIT_MS,
): Promise<Erasure> {
  const { sql } = context;
  if ('id' in asked && !(await isKnown(sql, asked.id))) {
    throw notFound(`Person ${asked.id}`, UNKNOWN);
  }
  const { identifier, ids: found } = await findOnePerson(context, asked);
  // What was made before a record became a part of theirs has its id, and so has what is not built yet.
  const ids = [...found, ...(await listJoined(sql, found))];
  const stored = await listIdentifiers(sql, ids, await listStatedIdentifiers(sql, ids));
  // No one has it now, or it is a former one of theirs.
  const isFormer = !stored.some(({ value }) => value === identifier?.value);
  const named = identifier !== null && isFormer ? [identifier] : [];
  const identifiers = [...ownIdentifiers(stored), ...named];
  await suppressPeople(sql, ids, identifiers, await listFormerHashes(sql, ids, bareCodes));
  const behind = await waitForUses(sql, waitMs);
  const parts = await redactAllResults(context);
  const answers = await deleteResponsesAbout(sql, true, ids);
  await forgetUses(sql, ids);
  const erased = await deletePersons(sql, ids);
  const after = await readLastChange(sql);
  // A worker that publishes a copy with the person notices, and reports its end.
  await withdrawPublished(context, after.number);
  await waitForCopies(context, after, waitMs);
  await withdrawPublished(context, after.number);
  await deleteAbandoned(context);
  const audit = await auditErasure(context, ids, identifiers, after);
  const left = [...behind.map((where) => ({ where, found: [] })), ...audit.left];
  return { erased, parts_rewritten: parts, answers_cleared: answers, ...audit, left };
}

/** Tables that record people who are charged or sent. Their writers leave out those who opted out before they began. */
const USES = ['public.batch_records', 'public.owned_people', 'public.page_hints'];
const USES_POLL_MS = 20;

/**
 * Waits until those who write these tables now have ended, at most so long: they may not see the opt-out, as when they wait for a
 * wallet. It takes no lock, so no one waits for the erasure. Returns the tables that one of them still writes.
 */
async function waitForUses(sql: Sql, waitMs: number): Promise<string[]> {
  const until = performance.now() + waitMs;
  let writers = await listWriters(sql, USES);
  while (writers.length > 0 && performance.now() < until) {
    await setTimeout(USES_POLL_MS);
    const now = new Set((await listWriters(sql, USES)).map(({ writer }) => writer));
    writers = writers.filter(({ writer }) => now.has(writer));
  }
  return [...new Set(writers.map(({ table }) => table))];
}

/**
 * Forgets what accounts have paid for these people, owned people and records of lists with `dedupe`, and their places in pages.
 */
async function forgetUses(sql: Sql, ids: readonly number[]): Promise<void> {
  await disown(sql, ids);
  await forgetPeople(sql, ids);
  await forgetPlaces(sql, ids);
}

/**
 * Overwrites deleted people in the copy of this machine, and waits until the workers of all machines have done so with theirs,
 * at most so long.
 */
async function waitForCopies(
  { sql, localCopy }: ErasureContext,
  after: AfterDeletion,
  waitMs: number,
): Promise<void> {
  const until = performance.now() + waitMs;
  while (true) {
    await localCopy.read(sql, async () => null);
    const { reached } = localCopy.describe();
    const isHere = reached !== null && reached < after.number;
    if (!isHere && (await listHostsBehind(sql, after)).length === 0) return;
    if (performance.now() >= until) return;
    await setTimeout(COPIES_POLL_MS);
  }
}

/** Keys that are looked up together. */
const BLOCK = 1000;

/** Deletes what processes left that were killed or lost a lease, and no reader knows: the audit would find the person there. */
async function deleteAbandoned(context: ErasureContext): Promise<void> {
  const { store } = context;
  let keys: string[] = [];
  for await (const key of store.list()) {
    if (isAbandonedWrite(key, Date.now())) await store.delete(key);
    else keys.push(key);
    if (keys.length < BLOCK) continue;
    await deleteAbandonedParts(context, keys);
    keys = [];
  }
  await deleteAbandonedParts(context, keys);
}
