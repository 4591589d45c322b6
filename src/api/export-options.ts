/** The options of an export, for callers of exports and schedules. */
import { z } from 'zod';
import { resultFormats } from '../jobs/batch/batch.ts';
import { batchName, fieldNames } from './batch-options.ts';

/** Room for a filter of many ids. */
const FILTER_CHARACTERS_MAX = 65_536;

/** The JSON of an export. */
export const exportOptions = z.strictObject({
  /** The query string of a person search. */
  filter: z.string().max(FILTER_CHARACTERS_MAX),
  name: batchName.default('export'),
  fields: fieldNames(1).nullable().default(null),
  format: z.enum(resultFormats).default('csv'),
  max_results: z.number().int().min(1).nullable().default(null),
  max_credits: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).nullable().default(null),
});
