/**
 * An estimate of a search's result before payment: the approximate number of people, and of those with each field.
 */
import { z } from 'zod';
import type { Sql } from '../db/client.ts';
import { personFields } from '../graph/fields.ts';
import { personSearch } from '../operations.ts';
import { discloseFields, discloseTotal, totalIsSchema } from '../search/free-responses.ts';
import { presenceBit } from './compile.sql.ts';
import type { PreparedFilter } from './prepared-filter.ts';
import { countOwned, countPresence } from './search.sql.ts';
import { findUnknownValues, unknownValuesSchema } from './unknown-values.ts';

/** The JSON of a preview; fields are those of the record, in its order. */
export const previewSchema = z.strictObject({
  total: z.number().int(),
  total_is: totalIsSchema,
  owned: z.number().int().meta({
    description:
      'How many of the people the account has paid for in its last `owned_days`: they cost nothing.',
  }),
  estimated_credits: z.number().int(),
  fields: z.record(z.string(), z.number().int()).meta({
    description:
      'By field, about how many of the people have it; empty where `total_is` is `below`.',
  }),
  unknown_values: unknownValuesSchema,
});
export type SearchPreview = z.output<typeof previewSchema>;

/** Counts the people of a filter, as a free response may disclose them. */
export async function previewSearch(sql: Sql, prepared: PreparedFilter): Promise<SearchPreview> {
  const { total: people, present } = await countPresence(sql, prepared);
  const counts = personFields.map(({ name }) => {
    const bit = presenceBit(name);
    return [name, bit === null ? people : (present[bit] ?? 0)] as const;
  });
  const told = discloseTotal(people);
  const owned = prepared.owner.live ? await countOwned(sql, prepared) : 0;
  return {
    ...told,
    owned,
    estimated_credits: Math.max(0, told.total - owned) * personSearch.price,
    fields: discloseFields(people, counts),
    unknown_values: await findUnknownValues(sql, prepared.filter),
  };
}
