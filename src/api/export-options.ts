/** The options of an export, as callers of exports and schedules send them. */
import { z } from 'zod';
import { resultFormats } from '../jobs/batch/result-format.ts';

/** Room for a filter of many ids. */
const FILTER_CHARACTERS_MAX = 65_536;

/** JSON of an export; a missing member is as the default says. */
export const exportOptions = z.strictObject({
  /** A query string, as person search takes it. */
  filter: z.string().max(FILTER_CHARACTERS_MAX),
  name: z.string().trim().min(1).max(200).default('export'),
  fields: z.array(z.string()).min(1).nullable().default(null),
  format: z.enum(resultFormats).default('csv'),
  max_results: z.number().int().min(1).nullable().default(null),
  max_credits: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).nullable().default(null),
});
