import { z } from 'zod';
import type { MatchMode } from '../../core/enrich/match-mode.ts';
import type { ListBatch } from '../../jobs/batch/batch.ts';
import { batchSchema, viewBatch } from '../../jobs/batch/batch-view.ts';
import type { BatchChange } from '../../jobs/batch/control-batch.sql.ts';
import {
  capBatch,
  changeHeldBatch,
  renameList,
  wakeAfter,
} from '../../jobs/batch/control-batch.ts';
import { withNameDoubt } from '../../jobs/list/name-doubt.ts';
import { readSample } from '../../jobs/list/preview-list.ts';
import { rereadList } from '../../jobs/list/reread-list.ts';
import { mapColumns } from '../../jobs/mapping/columns.ts';
import {
  country,
  delimiter,
  encoding,
  fieldNames,
  headerRow,
  mapping,
  matchMode,
  minProbability,
  sheet,
} from '../batch-options.ts';
import { clientGone } from '../client-gone.ts';
import { defineRoute, idParams } from '../define-route.ts';
import { requireOwnBatch } from '../own-objects.ts';
import { ownerOf, ownerWithKeyOf } from '../owner-of.ts';
import { holdUpload, uploadContextOf } from '../upload-context.ts';

/**
 * Changes a batch in the state `ready`, before anything is charged. A change of how the file is read has it read
 * again: the batch is `validating`, then `ready`. `max_credits` alone can be changed until the batch ends, `name` alone
 * always.
 */
export const patchBatchRoute = defineRoute({
  method: 'patch',
  path: '/v1/batches/:id',
  summary: 'Change a held batch, the max_credits of an open one, or the name of any',
  scope: 'batches',
  params: idParams,
  body: z.strictObject({
    name: z.string().trim().min(1).max(200).optional().meta({
      description: 'May be sent alone in every state. Downloads are named after it.',
    }),
    mapping: mapping.optional(),
    fields: fieldNames(0).nullable().optional(),
    default_region: country.nullable().optional(),
    country: country.nullable().optional(),
    max_credits: z.number().int().min(0).nullable().optional().meta({
      description:
        'May be sent alone in the states `ready`, `queued`, `running` and `paused`; not below the credits that are charged and reserved. A list that is paused at its `max_credits` resumes when they pay for one more match.',
    }),
    dedupe: z.boolean().optional(),
    match: matchMode.optional(),
    min_probability: minProbability.optional(),
    require_agreement: z.boolean().optional(),
    required: fieldNames(1).nullable().optional(),
    encoding: encoding.optional(),
    delimiter: delimiter.optional(),
    header_row: headerRow.optional(),
    sheet: sheet.optional(),
    allow_unmapped: z.boolean().optional().meta({
      description:
        'For a list that is read again: hold it even without a column to match on, as `allow_unmapped` of the upload does.',
    }),
  }),
  responses: { 200: { description: 'The batch after the change.', schema: batchSchema } },
  errors: [409, 410, 422, 500],
  async handler({ context, key, params, body, response, commit }) {
    const batch = await requireOwnBatch(context, key, 'list', params.id);
    const { max_credits: maxCredits, ...other } = body;
    if (maxCredits !== undefined && Object.keys(other).length === 0) {
      return commit(async (tx) => {
        const capped = await capBatch(tx, ownerWithKeyOf(key), batch, maxCredits);
        const wake = () => wakeAfter(context, capped, 'resume');
        return { status: 200, body: viewBatch(capped), wake };
      });
    }
    if (body.name !== undefined && Object.keys(body).length === 1) {
      const { name } = body;
      return commit(async (tx) => {
        const renamed = await renameList(tx, ownerOf(key), batch, name);
        return { status: 200, body: viewBatch(renamed) };
      });
    }
    const change: BatchChange = {
      ...(body.name !== undefined && { name: body.name }),
      ...(body.fields !== undefined && { fields: body.fields }),
      ...(body.default_region !== undefined && { defaultRegion: body.default_region }),
      ...(body.country !== undefined && { country: body.country }),
      ...(maxCredits !== undefined && { maxCredits }),
      ...(body.dedupe !== undefined && { dedupe: body.dedupe }),
      ...(body.required !== undefined && { required: body.required }),
      ...(body.match !== undefined && { match: body.match }),
      ...(body.min_probability !== undefined && { minProbability: body.min_probability }),
      ...(body.require_agreement !== undefined && { requireAgreement: body.require_agreement }),
    };
    const { encoding, delimiter, header_row: headerRow, sheet } = body;
    const reading = { encoding, delimiter, headerRow, sheet };
    if (Object.values(reading).some((value) => value !== undefined)) {
      holdUpload(key.accountId, response);
      const uploadContext = uploadContextOf(context, key, response);
      const allowUnmapped = body.allow_unmapped ?? false;
      const given = { ...reading, mapping: body.mapping ?? null, allowUnmapped };
      const read = await rereadList(uploadContext, ownerOf(key), batch, given, change);
      return { status: 200, body: viewBatch(read) };
    }
    const wanted = body.mapping ?? mappingForMatch(batch, body.match);
    if (wanted !== undefined) {
      const reading = { ...context, signal: clientGone(response) };
      const { header, doubts } = batch.dialect;
      const options = { match: body.match ?? batch.match };
      const { columns, sample } = await readSample(reading, batch, (cells) => ({
        columns: mapColumns(batch.operation, { header, sample: cells }, wanted, options),
        sample: cells,
      }));
      change.mapping = columns;
      const doubted = { live: batch.live, mapping: columns, sample, doubts };
      change.doubts = await withNameDoubt(context, doubted);
    }
    const after = await changeHeldBatch(context, ownerOf(key), batch, change);
    return { status: 200, body: viewBatch(after) };
  },
});

/** Another way to match reads other columns: guessed anew, unless the caller chose them. */
function mappingForMatch(
  { match, mapping }: ListBatch,
  wanted: MatchMode | undefined,
): null | undefined {
  const isChosen = Object.values(mapping).some((columns) =>
    columns.some(({ reason }) => reason === 'chosen'),
  );
  return wanted === undefined || wanted === match || isChosen ? undefined : null;
}
