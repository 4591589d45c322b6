/** Receives a list as JSON: its rows, or the id of an upload that is already in storage. */
import { Readable } from 'node:stream';
import type { Request } from 'express';
import { z } from 'zod';
import { invalidParameters } from '../core/lib/errors.ts';
import { openShare } from '../core/limits/shares.ts';
import { inReadingTurn } from '../jobs/list/reading-turns.ts';
import { storeUpload } from '../jobs/list/store-upload.ts';
import { openUpload } from '../jobs/list/uploads.ts';
import { readBatchOptions } from './batch-options.ts';
import type { RouteInput } from './http/define-route.ts';
import { parseParameters } from './http/parse-parameters.ts';
import { parseJson, readBody } from './http/read-json.ts';
import { readerOf } from './http/reader-of.ts';
import { ownerOf } from './owner-of.ts';
import { mappingOf, parseJsonLines, type RowList, toRowList } from './row-list.ts';
import { holdUpload, type ReceivedList, uploadContextOf } from './upload-context.ts';

/** Room for a thousand rows of a few long cells. */
const BODY_BYTES_MAX = 2 * 1024 * 1024;
/** Characters of a body that is read at once: some milliseconds. A longer one is read in the account's turn. */
const LENGTH_AT_ONCE_MAX = 64 * 1024;
/** Rows that become files: hundreds at once would keep the disk, and the thread, from all others before their turn to be read. */
const inStoringTurn = openShare({
  name: 'lists of rows',
  inFlightMax: 8,
  accountInFlightMax: 2,
  accountWaitingMax: 64,
  waitMsMax: 30_000,
});
/** The dialect of the file that rows become; callers cannot choose it. */
const dialect = { encoding: 'utf-8', delimiter: ',', header: 'true' };

/** Media types of bodies with rows. */
export const rowTypes = ['application/json', 'application/jsonl', 'application/x-ndjson'];

/**
 * Reads `{operation, rows, ...options}`, JSON lines with the options in the query, or `{upload_id}`. Throws also as shares do.
 */
export async function receiveJson(input: RouteInput): Promise<ReceivedList> {
  const { key, request, response } = input;
  const text = await readBody(request, BODY_BYTES_MAX);
  const read = () => readRowBody(request, text);
  const reader = readerOf({ key, response });
  const body = text.length > LENGTH_AT_ONCE_MAX ? await inReadingTurn(reader, read) : read();
  return 'json' in body ? receiveUploadId(input, body.json) : receiveRows(input, body);
}

interface RowBody {
  given: Record<string, unknown>;
  list: RowList;
}

/** Parses a body; one of JSON without `rows` is returned as it is. Throws `AppError` 400 as `parseJson` and `toRowList`. */
function readRowBody(request: Request, text: string): RowBody | { json: unknown } {
  if (!request.is('application/json')) {
    return { given: request.query, list: toRowList(parseJsonLines(text)) };
  }
  const json = parseJson(text);
  if (!isObject(json) || !('rows' in json)) return { json };
  const { rows, ...given } = json;
  return { given: { ...request.query, ...asFormFields(given) }, list: toRowList(rows) };
}

async function receiveRows(
  { context, key, response }: RouteInput,
  { given, list: { columns, csv } }: RowBody,
): Promise<ReceivedList> {
  refuseDialect(given);
  const mapping = mappingOf(given.operation, columns);
  const options = {
    ...(mapping === null ? {} : { mapping: JSON.stringify(mapping) }),
    ...given,
    ...dialect,
  };
  const requested = readBatchOptions(options, 'rows.json');
  const uploadContext = uploadContextOf(context, key, response);
  const upload = await inStoringTurn(key.accountId, uploadContext.signal, () =>
    storeUpload(uploadContext, Readable.from([Buffer.from(csv)])),
  );
  return {
    body: {
      context: uploadContext,
      store: async () => ({ upload, ...requested }),
      isRows: true,
    },
    same: { options, fileSha256: upload.sha256 },
    discard: () => context.store.delete(upload.key),
  };
}

const uploadBody = z.looseObject({
  upload_id: z.uuid({
    error: ({ input }) =>
      input === undefined
        ? 'is required without `rows`. Send the rows, the id of an upload, or a file'
        : undefined,
  }),
});

/** Reads `{upload_id, ...options}`. `store` throws as `openUpload`. */
async function receiveUploadId(
  { context, key, request, response }: RouteInput,
  json: unknown,
): Promise<ReceivedList> {
  const { upload_id: uploadId, ...given } = parseParameters(uploadBody, json);
  const options = { ...request.query, ...asFormFields(given) };
  const uploadContext = uploadContextOf(context, key, response);
  const { uploadBytesMax } = context.config;
  let fileKey: string | undefined;
  return {
    body: {
      context: uploadContext,
      async store() {
        const requested = readBatchOptions(options, null);
        holdUpload(key.accountId, response);
        const opened = await openUpload(context, ownerOf(key), uploadId, uploadBytesMax);
        fileKey = opened.key;
        const { source } = opened;
        // A file that is refused in the middle is not read to its end.
        const upload = await storeUpload(uploadContext, source).finally(() => source.destroy());
        return { upload, ...requested };
      },
      uploadId,
      async finish() {
        if (fileKey === undefined) return;
        await context.store.delete(fileKey).catch((error: unknown) => {
          // The batch has its own copy, and housekeeping deletes the upload within a day.
          context.log.warn({ err: error, upload: uploadId }, 'used upload not deleted');
        });
      },
      isRows: false,
    },
    // The id identifies the file: the upload is deleted when the request is repeated.
    same: { options: { ...options, upload_id: uploadId } },
  };
}

/** Options whose `null` means that they are not given; as a number it would be 0. */
const nullable: ReadonlySet<string> = new Set(['max_credits', 'header_row']);

/** Converts JSON values to form fields: one parser reads the options of every kind of request. */
function asFormFields(values: Record<string, unknown>): Record<string, unknown> {
  const given = Object.entries(values).filter(([name, value]) => {
    return value !== null || !nullable.has(name);
  });
  return Object.fromEntries(given.map(([name, value]) => [name, asFormField(value)]));
}

function asFormField(value: unknown): unknown {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return value.join(',');
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
}

function refuseDialect(given: Record<string, unknown>): void {
  const errors = Object.keys(dialect)
    .filter((field) => field in given)
    .map((field) => ({ field, message: 'is for files; leave it out of a call with rows' }));
  if (errors.length === 0) return;
  throw invalidParameters(errors);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
