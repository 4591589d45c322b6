import postgres from 'postgres';
import { assert } from '../lib/assert.ts';
import type { Sql } from './client.ts';

/**
 * Columns as SQL text, from their names in camelCase: `account_id, live`. Throws for anything but letters and digits.
 */
export function columnList(sql: Sql, names: readonly string[]) {
  assert(
    names.length > 0 && names.every((name) => /^[a-z][A-Za-z0-9]*$/.test(name)),
    'a list of names in camelCase',
  );
  return sql.unsafe(names.map(postgres.fromCamel).join(', '));
}
