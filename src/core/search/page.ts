/**
 * One page of a search, in the order of ids or of `sort`. A page is fixed before it is charged: exactly the people read here
 * are charged and sent.
 */
import { createHash } from 'node:crypto';
import type { Sql } from '../db/client.ts';
import { isCancelled } from '../db/pg-errors.ts';
import { type AppError, notNow } from '../lib/errors.ts';
import type { Filter } from './parse.ts';
import type { PageOrder, Place } from './parse-page.ts';
import { encodeCursor, type PageRequest, readCursor } from './parse-page.ts';
import type { PreparedFilter } from './prepared-filter.ts';
import {
  countPeople,
  deleteHintsAt,
  findHint,
  type PlacedPerson,
  saveHint,
  selectPage,
  selectPlaceAt,
} from './search.sql.ts';

export interface SearchPage {
  /** In order; at most `limit`. */
  people: PlacedPerson[];
  hasMore: boolean;
  /** Number of people that match the filter; null unless requested. */
  total: number | null;
  /** Saves the position after the page for paging by `skip`; may run while the page is charged. */
  remember(): Promise<void>;
}

/** Connections of a page: `graph` with its own timeout, `hints` to the live database. */
export interface SearchStores {
  graph: Sql;
  hints: Sql;
}

/** Returns the SHA-256 of a filter in an order, independent of the order of its parameters. */
function searchSha256(filter: Filter, order: PageOrder): Buffer {
  const sorted = filter.conditions.toSorted((a, b) => (a.parameter < b.parameter ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([sorted, order]))
    .digest();
}

/**
 * Reads a page. Throws `AppError` 400 for a cursor of another search and 503 `use_cursor` when skipping the people
 * takes longer than a search may.
 */
export async function readPage(
  stores: SearchStores,
  prepared: PreparedFilter,
  page: PageRequest,
): Promise<SearchPage> {
  const { order } = page;
  const sha256 = searchSha256(prepared.filter, order);
  const after = await findStart(stores, prepared, { page, sha256 });
  if (after === undefined) {
    const total = page.count ? await countPeople(stores.graph, prepared) : null;
    return { people: [], hasMore: false, total, remember: async () => {} };
  }
  const [rows, total] = await Promise.all([
    selectPage(stores.graph, prepared, { order, after, limit: page.limit + 1 }),
    page.count ? countPeople(stores.graph, prepared) : null,
  ]);
  const people = rows.slice(0, page.limit);
  const hasMore = rows.length > page.limit;
  return {
    people,
    hasMore,
    total,
    async remember() {
      const last = people.at(-1);
      // Only paging by `skip` needs the position; a cursor contains it.
      if (last === undefined || page.cursor !== null || !hasMore) return;
      const hint = { position: page.skip + people.length, last };
      await saveHint(stores.hints, { owner: prepared.owner, sha256, hint });
    },
  };
}

/** Returns the cursor after a person of a page. */
export function cursorAfter(last: Place, filter: Filter, order: PageOrder): string {
  return encodeCursor(last, searchSha256(filter, order));
}

/** Forgets the places of these people in pages: the order may be that of their names. */
export async function forgetPlaces(sql: Sql, ids: readonly number[]): Promise<void> {
  await deleteHintsAt(sql, ids);
}

/** Returns the place before the page, null for the beginning, undefined when no people are left. */
async function findStart(
  { graph, hints }: SearchStores,
  prepared: PreparedFilter,
  { page, sha256 }: { page: PageRequest; sha256: Buffer },
): Promise<Place | null | undefined> {
  const { cursor, skip, order } = page;
  if (cursor !== null) return readCursor(cursor, sha256, order);
  if (skip === 0) return null;
  const start = { owner: prepared.owner, sha256, position: skip };
  const hint = await findHint(hints, start);
  if (hint?.position === skip) return hint.last;
  const after = hint?.last ?? null;
  const skipped = skip - (hint?.position ?? 0);
  const found = await selectPlaceAt(graph, prepared, { order, after, skipped }).catch(
    (error: unknown) => {
      throw isCancelled(error) ? useCursor(skip, error) : error;
    },
  );
  if (found === undefined) return undefined;
  await saveHint(hints, { ...start, hint: { position: skip, last: found } });
  return found;
}

/** Returns the error of a search that timed out: what the caller can do instead. */
export function searchTimeout(cause: unknown): AppError {
  return notNow(
    'search_timeout',
    'This search takes too long for a call. Add a filter that matches few people (a position, place, company, skill or surname), leave out `count`, or run it as an export.',
    { cause },
  );
}

function useCursor(skip: number, cause: unknown): AppError {
  return notNow(
    'use_cursor',
    `Skipping ${skip} people takes too long for a call. Page by the cursor in the header \`Link: rel="next"\`, or by \`skip\` page after page from the beginning.`,
    { cause },
  );
}
