import { z } from 'zod';
import type { Context } from '../../core/context.ts';
import type { MatchMode } from '../../core/enrich/match-mode.ts';
import { omitUndefined } from '../../core/lib/omit-undefined.ts';
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
import { type Rereading, rereadList } from '../../jobs/list/reread-list.ts';
import { mapColumns, type RequestedMapping } from '../../mapping/columns.ts';
import {
  batchName,
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
import { clientGone } from '../http/client-gone.ts';
import { defineRoute, idParams } from '../http/define-route.ts';
import { requireOwnBatch } from '../own-objects.ts';
import { ownerOf, ownerWithKeyOf } from '../owner-of.ts';
import { holdUpload, uploadContextOf } from '../upload-context.ts';

const changes = z.strictObject({
  name: batchName.optional().meta({
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
});

type PatchBody = z.output<typeof changes>;

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
  body: changes,
  responses: { 200: { description: 'The batch after the change.', schema: batchSchema } },
  errors: [409, 410, 422, 500],
  async handler({ context, key, params, body, response, commit }) {
    const batch = await requireOwnBatch(context, key, 'list', params.id);
    const { name, max_credits: maxCredits } = body;
    const isAlone = Object.keys(body).length === 1;
    if (isAlone && maxCredits !== undefined) {
      return commit(async (tx) => {
        const capped = await capBatch(tx, ownerWithKeyOf(key), batch, maxCredits);
        const wake = () => wakeAfter(context, capped, 'resume');
        return { status: 200, body: viewBatch(capped), wake };
      });
    }
    if (isAlone && name !== undefined) {
      return commit(async (tx) => {
        const renamed = await renameList(tx, ownerOf(key), batch, name);
        return { status: 200, body: viewBatch(renamed) };
      });
    }
    const change = toBatchChange(body);
    const rereading = rereadingOf(body);
    if (rereading !== null) {
      holdUpload(key.accountId, response);
      const uploadContext = uploadContextOf(context, key, response);
      const read = await rereadList(uploadContext, ownerOf(key), batch, rereading, change);
      return { status: 200, body: viewBatch(read) };
    }
    const wanted = body.mapping ?? mappingForMatch(batch, body.match);
    if (wanted !== undefined) {
      const reading = { ...context, signal: clientGone(response) };
      Object.assign(change, await mapAnew(reading, batch, wanted, body.match ?? batch.match));
    }
    const after = await changeHeldBatch(context, ownerOf(key), batch, change);
    return { status: 200, body: viewBatch(after) };
  },
});

/** Returns the options of the body under the service's names. */
function toBatchChange(body: PatchBody): BatchChange {
  const { name, fields, country, dedupe, required, match } = body;
  return omitUndefined({
    name,
    fields,
    country,
    dedupe,
    required,
    match,
    defaultRegion: body.default_region,
    maxCredits: body.max_credits,
    minProbability: body.min_probability,
    requireAgreement: body.require_agreement,
  });
}

/** Returns how the file is to be read again, and null when the body says nothing about it. */
function rereadingOf(body: PatchBody): Rereading | null {
  const { encoding, delimiter, header_row: headerRow, sheet } = body;
  const reading = { encoding, delimiter, headerRow, sheet };
  if (Object.values(reading).every((value) => value === undefined)) return null;
  return {
    ...reading,
    mapping: body.mapping ?? null,
    allowUnmapped: body.allow_unmapped ?? false,
  };
}

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

/**
 * Returns the columns for a mapping, null to guess them, and what is doubtful about them. Throws as `readSample` and
 * `mapColumns`.
 */
async function mapAnew(
  context: Context & { signal: AbortSignal },
  batch: ListBatch,
  wanted: RequestedMapping | null,
  match: MatchMode,
): Promise<Required<Pick<BatchChange, 'mapping' | 'doubts'>>> {
  const { header, doubts } = batch.dialect;
  const { mapping, sample } = await readSample(context, batch, (cells) => ({
    mapping: mapColumns(batch.operation, { header, sample: cells }, wanted, { match }),
    sample: cells,
  }));
  const doubted = { live: batch.live, mapping, sample, doubts };
  return { mapping, doubts: await withNameDoubt(context, doubted) };
}
