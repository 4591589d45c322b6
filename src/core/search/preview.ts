/**
 * An estimate of a search's result before payment: the approximate number of people, and of those with each field.
 */
import type { Sql } from '../db/client.ts';
import {
  type DisclosedTotal,
  discloseFields,
  discloseTotal,
} from '../free-responses/free-responses.ts';
import { personFields } from '../graph/fields.ts';
import { presenceBit } from './compile.sql.ts';
import type { PreparedFilter } from './prepared-filter.ts';
import { countPresence } from './search.sql.ts';

export interface SearchPreview extends DisclosedTotal {
  /** Credits of all of them, as precise as `total`. */
  estimated_credits: number;
  /** Approximate number of people with each field of the record, in its order. Empty for few people. */
  fields: Record<string, number>;
}

/** Counts the people of a filter, as a free response may disclose them. */
export async function previewSearch(sql: Sql, prepared: PreparedFilter): Promise<SearchPreview> {
  const { total: people, present } = await countPresence(sql, prepared);
  const counts = personFields.map(({ name }) => {
    const bit = presenceBit(name);
    return [name, bit === null ? people : (present[bit] ?? 0)] as const;
  });
  const told = discloseTotal(people);
  return { ...told, estimated_credits: told.total, fields: discloseFields(people, counts) };
}
