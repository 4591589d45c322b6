/** The origin of the values of a record, for an operator: sources and days, and no value of a person. */
import type { Sql } from '../../core/db/client.ts';
import { showSources } from '../../core/graph/sources/show-sources.ts';
import { invalidParameter } from '../../core/lib/errors.ts';

/**
 * Returns the sources that a record of the live graph is made of, and the origin of each value, the deciding one first. `id`
 * is the one that the record has now. The key of a record in its source, which may be an email address, is returned for
 * companies only. Throws `AppError` 400 for a text that is not an id, and 404.
 */
export async function readSources(
  sql: Sql,
  of: 'company' | 'person',
  text: string,
): Promise<Record<string, unknown>> {
  const asked = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(asked) || asked < 1) {
    throw invalidParameter('id', 'must be a whole number of at least 1');
  }
  const { id, sources, values } = await showSources(sql, of, asked);
  const told = ({ source, key, as_of, import_id }: (typeof values)[string][number]) => ({
    source,
    ...(of === 'company' ? { key } : {}),
    as_of,
    import_id,
  });
  const fields = Object.entries(values).map(([field, origins]) => [field, origins.map(told)]);
  return {
    id,
    sources: sources.map((one) => ({ record: one.record, ...told(one) })),
    values: Object.fromEntries(fields),
  };
}
