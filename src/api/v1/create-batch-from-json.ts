/** `POST /v1/batches` with a JSON body: rows of a small list, or the id of an upload. */
import { Readable } from 'node:stream';
import { requestHash } from '../../core/idempotency/idempotency.ts';
import { AppError } from '../../core/lib/errors.ts';
import { viewBatch } from '../../jobs/batch/batch-view.ts';
import { createBatch, storeUpload } from '../../jobs/list/create-list.ts';
import { answerBatch } from '../answer-batch.ts';
import { readBatchOptions } from '../batch-options.ts';
import type { RouteInput } from '../define-route.ts';
import { type IdempotentRequest, replay } from '../idempotent-request.ts';
import { parseJson, readBody } from '../read-json.ts';
import { mappingOf, parseJsonLines, toRowList } from '../row-list.ts';
import { uploadContextOf } from '../upload-context.ts';
import { asFormFields, createBatchFromUpload } from './create-batch-from-upload.ts';
import { ownerOf } from './own-batch.ts';

/** Room for a thousand rows of a few long cells. */
const BODY_BYTES_MAX = 2 * 1024 * 1024;
/** How the rows are written is not the caller's to say. */
const dialect = { encoding: 'utf-8', delimiter: ',', header: 'true' };

type Input = RouteInput<Record<string, unknown>, unknown>;

/** The types of body that hold rows. */
export const rowTypes = ['application/json', 'application/jsonl', 'application/x-ndjson'];

/** Reads `{operation, rows, ...options}`, JSON lines with the options in the query, or `{upload_id}`. */
export async function createBatchFromJson(
  input: Input,
  idempotency: IdempotentRequest,
): Promise<void> {
  const { query, request } = input;
  const text = await readBody(request, BODY_BYTES_MAX);
  if (!request.is('application/json')) {
    return createFromRows(input, idempotency, query, parseJsonLines(text));
  }
  const body = parseJson(text);
  if (!isObject(body) || !('rows' in body)) {
    return createBatchFromUpload(input, idempotency, body);
  }
  const { rows, ...given } = body;
  return createFromRows(input, idempotency, { ...query, ...asFormFields(given) }, rows);
}

async function createFromRows(
  input: Input,
  idempotency: IdempotentRequest,
  given: Record<string, unknown>,
  rows: unknown,
): Promise<void> {
  const { context, key, response } = input;
  const { columns, csv } = toRowList(rows);
  refuseDialect(given);
  const mapping = mappingOf(given.operation, columns);
  const options = {
    ...(mapping === null ? {} : { mapping: JSON.stringify(mapping) }),
    ...given,
    ...dialect,
  };
  const [batchRequest, dialectRequest] = readBatchOptions(options, 'rows.json');
  const uploadContext = uploadContextOf(context, key, response);
  const stored = await storeUpload(uploadContext, Readable.from([Buffer.from(csv)]));
  const requestSha256 = requestHash(options, stored.sha256);
  if (idempotency.stored !== null) {
    await context.store.delete(stored.key);
    replay(response, idempotency.stored, requestSha256);
    return;
  }
  const owner = { ...ownerOf(key), keyId: key.id };
  const batch = await createBatch(
    uploadContext,
    owner,
    stored,
    batchRequest,
    dialectRequest,
    (tx, made) =>
      idempotency.respond(tx, { requestSha256, status: 202, body: viewBatch(made, new Date()) }),
  );
  await answerBatch(input, batch);
}

function refuseDialect(given: Record<string, unknown>): void {
  const errors = Object.keys(dialect)
    .filter((field) => field in given)
    .map((field) => ({ field, message: 'is no parameter of a call with rows' }));
  if (errors.length === 0) return;
  const message = errors.map((error) => `${error.field}: ${error.message}`).join('. ');
  throw new AppError({ code: 'invalid_parameter', status: 400, message, errors });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
