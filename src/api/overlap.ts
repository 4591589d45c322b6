/** The body of a call that replaces a secret: how long the old one stays valid beside the new one. */
import { z } from 'zod';
import { OVERLAP_SECONDS_DEFAULT, OVERLAP_SECONDS_MAX } from '../core/keys/account-keys.ts';

export const overlapBody = z.strictObject({
  overlap_seconds: z
    .number()
    .int()
    .min(0)
    .max(OVERLAP_SECONDS_MAX)
    .default(OVERLAP_SECONDS_DEFAULT),
});
