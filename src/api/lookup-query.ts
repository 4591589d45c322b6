/** The query of a lookup: a text, or ids to get their names. */
import { z } from 'zod';
import { decimal } from './http/decimal.ts';

/** No name is longer. */
const TEXT_LENGTH_MAX = 200;

/** Maximum ids of one call. */
const IDS_MAX = 100;
const ID_MAX = 2 ** 31 - 1;

export const lookupQuery = z
  .strictObject({
    q: z.string().max(TEXT_LENGTH_MAX).default(''),
    ids: z
      .string()
      .regex(/^\d+(,\d+)*$/, 'must be ids such as 12,15')
      .transform((text) => text.split(',').map(Number))
      .refine((ids) => ids.length <= IDS_MAX, `must have at most ${IDS_MAX} ids`)
      .refine((ids) => ids.every((id) => id <= ID_MAX), `must have ids of at most ${ID_MAX}`)
      .optional()
      .describe('Instead of `q`: ids such as `12,15`, to get their names'),
    limit: decimal(z.number().int().min(1).max(100)).default(10),
  })
  .refine(({ q, ids }) => ids === undefined || q === '', {
    path: ['ids'],
    message: 'cannot be combined with `q`: send a text or ids',
  });
