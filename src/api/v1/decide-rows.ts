import { z } from 'zod';
import { batchSchema } from '../../jobs/batch/batch-view.ts';
import { type PlaceOf, type RowDecision, rowsDecided } from '../../jobs/list/decide-rows.ts';
import { readDecisions } from '../../jobs/list/read-decisions.ts';
import { createRerun } from '../create-rerun.ts';
import { defineRoute, idParams, type RouteInput } from '../http/define-route.ts';
import { holdBody } from '../http/held-bytes.ts';
import { parseParameters } from '../http/parse-parameters.ts';
import { readBody, readJson } from '../http/read-json.ts';
import { readerOf } from '../http/reader-of.ts';

const BODY_BYTES_MAX = 4 * 1024 * 1024;
const JSON_DECISIONS_MAX = 10_000;
/** Bytes that a decision takes in memory. In a file it has four at least. */
const DECISION_BYTES = 96;
/** The same in JSON, which is parsed, checked and kept for the comparison of repeated calls. It has 16 at least. */
const JSON_DECISION_BYTES = 256;
const ROW_MAX = 999_999_999;

const hold = z.boolean().default(false).meta({
  description: 'Wait in the state `ready` for a quote and a start, as after `hold` of an upload.',
});
const body = z.strictObject({
  decisions: z
    .array(
      z.strictObject({
        row: z.number().int().min(1).max(ROW_MAX),
        id: z.number().int().min(1).nullable().meta({
          description: 'The candidate that the row means; null for none of them.',
        }),
      }),
    )
    .min(1)
    .max(JSON_DECISIONS_MAX),
  hold,
});
const query = z.strictObject({
  hold: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: 'As in the JSON, for a body of CSV.' }),
});

interface Decided {
  decisions: RowDecision[];
  hold: boolean;
  placeOf: PlaceOf;
}

/**
 * Decides ambiguous rows: creates a batch of them, in which each matches the record that the caller chose and is charged as a
 * match. Decisions are taken all or none.
 */
export const decideRowsRoute = defineRoute({
  method: 'post',
  path: '/v1/batches/:id/decisions',
  summary: 'Decide which records the ambiguous rows of a list mean',
  scope: 'batches',
  params: idParams,
  query,
  bodies: { 'application/json': body, 'text/csv': null },
  receive: receiveDecisions,
  idempotent: true,
  responses: { 202: { description: 'The batch of the decided rows.', schema: batchSchema } },
  errors: [410, 500],
  locates: true,
  handler: (input) =>
    createRerun(input, (batch) => rowsDecided(batch, input.body.decisions, input.body)),
});

async function receiveDecisions({
  key,
  request,
  query: sent,
  response,
}: RouteInput<z.output<typeof query>>): Promise<{
  body: Decided;
  same: { options: Record<string, unknown> };
}> {
  if (request.is('text/csv')) {
    const text = await readBody(request, BODY_BYTES_MAX);
    const reader = readerOf({ key, response });
    const hold = holdBody(request);
    const decisions = await readDecisions(text, reader, (kept) => hold(kept * DECISION_BYTES));
    return {
      body: { decisions, hold: sent.hold === 'true', placeOf: (line) => ({ field: 'id', line }) },
      same: { options: { decisions, ...sent } },
    };
  }
  const bounds = { bytesMax: BODY_BYTES_MAX, elementsMax: JSON_DECISIONS_MAX };
  const given = parseParameters(body, await readJson(request, bounds));
  holdBody(request)(given.decisions.length * JSON_DECISION_BYTES);
  const decisions = given.decisions.map((one, at) => ({ ...one, at }));
  const placeOf: PlaceOf = (at) => ({ field: `decisions.${at}` });
  return { body: { decisions, hold: given.hold, placeOf }, same: { options: given } };
}
