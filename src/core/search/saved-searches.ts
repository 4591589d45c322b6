/** Searches that an account keeps under a name. */
import { uuidv7 } from 'uuidv7';
import { z } from 'zod';
import type { Owner } from '../accounts/owner.ts';
import type { Sql } from '../db/client.ts';
import { conflict } from '../lib/errors.ts';
import { checkFilter } from './check-filter.ts';
import { insertSavedSearch, type SavedSearch } from './saved-searches.sql.ts';

/** Saved searches of an account and mode. */
const SEARCHES_MAX = 100;

/** The JSON of a saved search. */
export const savedSearchSchema = z
  .strictObject({
    id: z.uuid(),
    name: z.string(),
    filter: z.string().meta({ description: 'A query string, as it was saved.' }),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'SavedSearch' });

export function viewSavedSearch(search: SavedSearch): z.output<typeof savedSearchSchema> {
  const { id, name, filter, createdAt } = search;
  return { id, name, filter, created_at: createdAt.toISOString() };
}

/**
 * Keeps a filter under a name, in the place of the one that has it. Throws `AppError` 400 for a filter that cannot be
 * parsed, and 409 `too_many_searches`. Call in a transaction.
 */
export async function saveSearch(
  tx: Sql,
  owner: Owner,
  { name, filter }: Pick<SavedSearch, 'name' | 'filter'>,
): Promise<SavedSearch> {
  checkFilter(filter);
  const saved = await insertSavedSearch(tx, owner, { id: uuidv7(), name, filter }, SEARCHES_MAX);
  if (saved !== undefined) return saved;
  throw conflict(
    'too_many_searches',
    `An account may have ${SEARCHES_MAX} saved searches. Delete one that is no longer used.`,
  );
}
