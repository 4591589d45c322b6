import { assert } from '../lib/assert.ts';
import type { Sql } from './client.ts';

/**
 * A list of words as SQL text: `('queued', 'running')`. As text and not as a parameter, so that the condition
 * matches the predicate of a partial index in a prepared statement as well. Throws for anything but lower-case
 * words.
 */
export function wordList(sql: Sql, words: readonly string[]) {
  assert(
    words.length > 0 && words.every((word) => /^[a-z_]+$/.test(word)),
    'a list of lower-case words',
  );
  return sql.unsafe(`(${words.map((word) => `'${word}'`).join(', ')})`);
}
