/**
 * One page of a search, in the order of ids. A page is fixed before it is paid: what is read here is what
 * is charged and sent.
 */
import { createHash } from 'node:crypto';
import type { Sql } from '../db/client.ts';
import { isCancelled } from '../db/pg-errors.ts';
import { AppError } from '../lib/errors.ts';
import type { Filter } from './parse.ts';
import { type PageRequest, readCursor, spellCursor } from './parse-page.ts';
import type { PreparedFilter } from './prepared-filter.ts';
import {
  countPeople,
  findHint,
  type PersonRow,
  saveHint,
  selectIdAt,
  selectPage,
} from './search.sql.ts';

export interface SearchPage {
  /** In order; at most `limit`. */
  people: PersonRow[];
  hasMore: boolean;
  /** How many people the filter means; null unless that was asked for. */
  total: number | null;
  /** Keeps the place behind the page for who goes on by `skip`; may run while the page is paid. */
  remember(): Promise<void>;
}

/** Which connections a page is read by: `graph` with a timeout of its own, `hints` to the live database. */
export interface SearchStores {
  graph: Sql;
  hints: Sql;
}

/** SHA-256 of what a filter means, however its parameters are ordered. */
function filterSha256(filter: Filter): Buffer {
  const sorted = filter.conditions.toSorted((a, b) => (a.parameter < b.parameter ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(sorted)).digest();
}

/**
 * Reads a page. Throws `AppError` 400 for a cursor of another search and 503 `use_cursor` when the people to skip could
 * not be counted in the time that a search has.
 */
export async function readPage(
  stores: SearchStores,
  prepared: PreparedFilter,
  page: PageRequest,
): Promise<SearchPage> {
  const sha256 = filterSha256(prepared.filter);
  const after = await startOf(stores, prepared, { page, sha256 });
  if (after === undefined) {
    const total = page.count ? await countPeople(stores.graph, prepared) : null;
    return { people: [], hasMore: false, total, remember: async () => {} };
  }
  const [rows, total] = await Promise.all([
    selectPage(stores.graph, prepared, { after, limit: page.limit + 1 }),
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
      // Only who pages by `skip` comes back for the place; a cursor says it by itself.
      if (last === undefined || page.cursor !== null || !hasMore) return;
      const hint = { position: page.skip + people.length, lastId: last.id };
      await saveHint(stores.hints, { owner: prepared.owner, sha256, hint });
    },
  };
}

/** The cursor behind these people. */
export function cursorAfter(last: PersonRow, filter: Filter): string {
  return spellCursor(last.id, filterSha256(filter));
}

/** The person before the page, null for the beginning, undefined where nobody is left. */
async function startOf(
  { graph, hints }: SearchStores,
  prepared: PreparedFilter,
  { page, sha256 }: { page: PageRequest; sha256: Buffer },
): Promise<number | null | undefined> {
  const { cursor, skip } = page;
  if (cursor !== null) return readCursor(cursor, sha256);
  if (skip === 0) return null;
  const place = { owner: prepared.owner, sha256, position: skip };
  const hint = await findHint(hints, place);
  if (hint?.position === skip) return hint.lastId;
  const after = hint?.lastId ?? null;
  const skipped = skip - (hint?.position ?? 0);
  const found = await selectIdAt(graph, prepared, { after, skipped }).catch((error: unknown) => {
    throw isCancelled(error) ? useCursor(skip, error) : error;
  });
  if (found === undefined) return undefined;
  await saveHint(hints, { ...place, hint: { position: skip, lastId: found } });
  return found;
}

/** The refusal of a search that the server was not done with in time: what the caller can do instead. */
export function searchTimeout(cause: unknown): AppError {
  return new AppError({
    code: 'search_timeout',
    status: 503,
    message:
      'This search takes longer than a call may. Add a filter that few people meet (a position, place, company, skill or surname), leave out `count`, or run it as an export.',
    cause,
  });
}

function useCursor(skip: number, cause: unknown): AppError {
  return new AppError({
    code: 'use_cursor',
    status: 503,
    message: `Skipping ${skip} people takes longer than a call may. Page by the cursor in the header \`Link: rel="next"\`, or by \`skip\` from the beginning, page after page.`,
    cause,
  });
}
