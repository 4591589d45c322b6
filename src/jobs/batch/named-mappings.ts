/** Mappings that an account keeps under a name, by the names of their columns. */
import { uuidv7 } from 'uuidv7';
import { z } from 'zod';
import type { Owner } from '../../core/accounts/owner.ts';
import type { Sql } from '../../core/db/client.ts';
import { conflict, invalidParameter } from '../../core/lib/errors.ts';
import type { ListBatch } from './batch.ts';
import { type NamedMapping, saveNamedMapping } from './named-mappings.sql.ts';

/** Mappings of an account and mode. */
const MAPPINGS_MAX = 100;
/** Of the names of a mapping: fifty columns may each be of eight kinds, and each page reads a hundred mappings. */
const NAMES_BYTES_MAX = 16 * 1024;

/** The JSON of a named mapping. */
export const namedMappingSchema = z
  .strictObject({
    id: z.uuid(),
    name: z.string(),
    operation: z.string(),
    columns: z
      .record(z.string(), z.array(z.string()))
      .meta({ description: 'Names of columns by kind.' }),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'NamedMapping' });

export function viewNamedMapping(mapping: NamedMapping): z.output<typeof namedMappingSchema> {
  const { id, name, operation, columns, createdAt } = mapping;
  return { id, name, operation, columns, created_at: createdAt.toISOString() };
}

/**
 * Keeps the mapping of a list under a name, in the place of the one that has it. Throws `AppError` 400 for a list whose
 * mapped columns have no names, or too long ones, and 409 `too_many_mappings`. Call in a transaction.
 */
export async function nameMapping(
  tx: Sql,
  owner: Owner,
  name: string,
  { operation, mapping }: ListBatch,
): Promise<NamedMapping> {
  const named = Object.entries(mapping).flatMap(([kind, columns]) => {
    const names = columns.flatMap(({ header }) => (header ? [header] : []));
    return names.length === 0 ? [] : [[kind, names] as const];
  });
  if (named.length === 0) {
    throw invalidParameter('batch_id', 'the mapped columns of this list have no names to keep');
  }
  const columns = Object.fromEntries(named);
  if (Buffer.byteLength(JSON.stringify(columns)) > NAMES_BYTES_MAX) {
    const most = `the names of its mapped columns have more than ${NAMES_BYTES_MAX} bytes`;
    throw invalidParameter('batch_id', `${most}; shorten them in the header, or map fewer columns`);
  }
  const wanted = { id: uuidv7(), name, operation, columns };
  const saved = await saveNamedMapping(tx, owner, wanted, MAPPINGS_MAX);
  if (saved !== undefined) return saved;
  throw conflict(
    'too_many_mappings',
    `An account may have ${MAPPINGS_MAX} named mappings. Delete one that is no longer used.`,
  );
}
