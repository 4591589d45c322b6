/** The SQL of the orders of a search's pages. */
import type { Sql } from '../db/client.ts';
import type { PageOrder, Place } from './parse-page.ts';

/** The column of each order besides the id, and the type that its text is read as. */
const keyColumns = {
  whenUpdated: (sql: Sql) => ({ column: sql`s.when_updated`, type: sql`timestamp` }),
  createdAt: (sql: Sql) => ({ column: sql`s.created_at`, type: sql`timestamp` }),
  surname: (sql: Sql) => ({ column: sql`s.surname`, type: sql`text collate "C"` }),
};

/**
 * Returns SQL about `person_search s`: the column of the order besides the id (a null without one), the order, the same
 * order of rows `found (place, id)`, and the condition of the people after a place.
 */
export function orderSql(sql: Sql, { by, descending }: PageOrder) {
  const direction = descending ? sql`desc` : sql`asc`;
  const comparison = descending ? sql`<` : sql`>`;
  if (by === 'id') {
    return {
      column: sql`null::text`,
      order: sql`s.id ${direction}`,
      orderOfFound: sql`found.id ${direction}`,
      after: ({ id }: Place) => sql`and s.id ${comparison} ${id}::bigint`,
    };
  }
  const { column, type } = keyColumns[by](sql);
  return {
    column,
    order: sql`${column} ${direction}, s.id ${direction}`,
    orderOfFound: sql`found.place ${direction}, found.id ${direction}`,
    after: ({ id, key }: Place) =>
      sql`and (${column}, s.id) ${comparison} (${key}::text::${type}, ${id}::bigint)`,
  };
}
