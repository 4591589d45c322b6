import { z } from 'zod';

const DECIMAL = /^-?\d+(\.\d+)?$/;

/**
 * Returns the schema for values that are numbers in JSON, and texts of decimal digits in a query or form. Other texts that
 * `Number` takes, such as `0x10`, `1e2` and the empty one, which it takes for 0, are left as texts for the schema to refuse.
 */
export function decimal<Schema extends z.ZodNumber>(schema: Schema) {
  return z.preprocess(
    (value) => (typeof value === 'string' && DECIMAL.test(value) ? Number(value) : value),
    schema,
  );
}
