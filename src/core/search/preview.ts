/** What a search would give, before anything is paid: how many people, and how many have each field. */
import type { Sql } from '../db/client.ts';
import { personFields } from '../graph/fields.ts';
import { presenceBit } from './compile.ts';
import { bounded } from './page.ts';
import type { PreparedFilter } from './prepared-filter.ts';
import { countPresence } from './queries.ts';

export interface SearchPreview {
  /** People that the filter means. */
  total: number;
  /** Credits of all of them. */
  estimated_credits: number;
  /** By field of the record, in its order: how many of them have it. */
  fields: Record<string, number>;
}

/** Counts the people of a filter. Throws `AppError` 503 `search_timeout`. */
export async function previewSearch(sql: Sql, prepared: PreparedFilter): Promise<SearchPreview> {
  const { total, present } = await bounded(countPresence(sql, prepared));
  const fields = personFields.map(({ name }) => {
    const bit = presenceBit(name);
    return [name, bit === null ? total : (present[bit] ?? 0)];
  });
  return { total, estimated_credits: total, fields: Object.fromEntries(fields) };
}
