/** The calls by which an operator brings files into the graph: receive, examine, count, import. */
import { z } from 'zod';
import { inTransaction, type Sql } from '../../core/db/client.ts';
import { AppError, notFound } from '../../core/lib/errors.ts';
import { omitUndefined } from '../../core/lib/omit-undefined.ts';
import { HIDING } from '../../core/lib/plain-name.ts';
import {
  cancelRun,
  changeOptions,
  countRun,
  dropRun,
  openRun,
  receiveFile,
  requireRun,
  startRun,
  storeFile,
} from '../../jobs/imports/change-run.ts';
import {
  type ImportRun,
  importRunSchema,
  type RunFile,
  viewRun,
} from '../../jobs/imports/import-run.ts';
import { listRuns } from '../../jobs/imports/import-runs.sql.ts';
import { rejectsKey } from '../../jobs/imports/rejected-rows.ts';
import { receiveUpload } from '../../jobs/list/receive-upload.ts';
import { sourceNames } from '../../sources/read-source.ts';
import { mappingSchema } from '../../sources/source-mapping.ts';
import { isLaterThanTomorrow, isoDate } from '../../sources/values.ts';
import { definePage } from '../http/define-page.ts';
import { defineRoute, idParams, type RouteInput, sent } from '../http/define-route.ts';
import { holdDownload } from '../http/open-responses.ts';
import { parseId } from '../http/parse-parameters.ts';
import { sendWhileValid, whileValid } from '../http/while-valid.ts';
import { holdUpload } from '../upload-context.ts';
import { operatorOf } from './operator-of.ts';

const NAME_BYTES_MAX = 200;

/** The file is written under this name on the machine of a worker, and recognised by it. */
const fileName = z
  .string()
  .min(1)
  .refine((name) => Buffer.byteLength(name) <= NAME_BYTES_MAX, {
    message: `must have at most ${NAME_BYTES_MAX} bytes`,
  })
  .refine((name) => !/[/\\]/.test(name) && name.search(HIDING) === -1 && !/^\.{1,2}$/.test(name), {
    message: 'must be the name of a file, without folders and control characters',
  })
  .meta({ description: 'Name of the file: adapters recognise it, and it may hold the day.' });

const days = z
  .string()
  .refine((text) => isoDate(text) === text, { message: 'must be a day such as 2026-10-01' })
  .refine((text) => !isLaterThanTomorrow(text), { message: 'must not be later than tomorrow' })
  .meta({ description: 'Day of the data; by default the one in the file name, otherwise today.' });

const named = { name: z.string() };
const [ofPersons, ofCompanies] = mappingSchema.options;

const runChange = z.strictObject({
  source: z.enum(sourceNames).nullable().optional().meta({
    description: 'Name of the source; null or `auto` finds it.',
  }),
  mapping: z
    .discriminatedUnion('of', [ofPersons.extend(named), ofCompanies.extend(named)])
    .nullable()
    .optional()
    .meta({
      description:
        'The columns of each field, under a name that is also that of the source; null guesses them.',
    }),
  as_of: days.nullable().optional(),
  allow_gone: z.boolean().optional().meta({
    description: '`true`: accept a snapshot that lacks many of the earlier records.',
  }),
});

const bytes = { 'application/octet-stream': null } as const;
const theRun = { description: 'The run.', schema: importRunSchema };

interface Received {
  run: ImportRun;
  file: RunFile;
  discard(): Promise<void>;
}

type Recorded = { status: 202; body: z.output<typeof importRunSchema> };

/** Receives the body as a file of a run. When this throws, nothing of it remains. */
async function receive(
  { context, key, credentials, query, request, response }: RouteInput<{ name: string }>,
  runOf: (sql: Sql, accountId: string) => Promise<ImportRun>,
) {
  const accountId = operatorOf(key);
  holdUpload(accountId, response);
  const run = await runOf(context.sql, accountId);
  const isNew = run.state === 'receiving';
  const discard = async (file?: RunFile) => {
    if (isNew) await dropRun(context, run.id);
    else if (file !== undefined) await context.store.delete(file.key);
  };
  try {
    const received = await whileValid(context, credentials, async (cut) => {
      const source = receiveUpload(request, context.config.importBytesMax, cut, {
        keepsGzip: true,
      });
      const file = await storeFile(context, run, query.name, source);
      return { file, sha256: source.sha256() };
    });
    return {
      body: { run, file: received.file, discard: () => discard(received.file) },
      same: { options: { name: query.name }, fileSha256: received.sha256 },
      discard: () => discard(received.file),
    };
  } catch (error) {
    await discard();
    throw error;
  }
}

/**
 * Adds a received file to its run. A file that the run does not take, or whose client has left before, is deleted, and so is a
 * run without another.
 */
async function record(
  { run, file, discard }: Received,
  commit: (work: (tx: Sql) => Promise<Recorded>) => Promise<Recorded>,
): Promise<Recorded> {
  try {
    return await commit(async (tx) => ({
      status: 202,
      body: viewRun(await receiveFile(tx, run.id, file)),
    }));
  } catch (error) {
    // Another error, such as a lost connection, leaves open whether it was added.
    if (error instanceof AppError) await discard();
    throw error;
  }
}

const createRoute = defineRoute({
  method: 'post',
  path: '/admin/import-runs',
  summary: 'Upload a file to import; it is examined, and nothing is written',
  scope: 'admin',
  query: z.strictObject({ name: fileName }),
  bodies: bytes,
  receive: (input) => receive(input, openRun),
  idempotent: true,
  responses: { 202: theRun },
  locates: true,
  handler: ({ body, commit }) => record(body, commit),
});

const addFileRoute = defineRoute({
  method: 'post',
  path: '/admin/import-runs/:id/files',
  summary: 'Upload another part of the same dataset',
  scope: 'admin',
  params: idParams,
  query: z.strictObject({ name: fileName }),
  bodies: bytes,
  receive: (input): Promise<{ body: Received }> =>
    receive(input, (sql, accountId) => requireRun(sql, accountId, idOf(input.params.id))),
  idempotent: true,
  responses: { 202: theRun },
  handler: ({ body, commit }) => record(body, commit),
});

const listRoute = definePage({
  path: '/admin/import-runs',
  summary: 'Import runs of the operator’s account, newest first',
  description: 'A page of import runs, without the examined records.',
  scope: 'admin',
  item: importRunSchema,
  cursor: z.uuid(),
  read: ({ context, key }, page) => listRuns(context.sql, operatorOf(key), page),
  cursorOf: ({ id }) => id,
  view: (run) => viewRun({ ...run, found: null }),
});

const getRoute = defineRoute({
  method: 'get',
  path: '/admin/import-runs/:id',
  summary: 'State, findings and counts of an import run',
  scope: 'admin',
  params: idParams,
  responses: { 200: theRun },
  async handler({ context, key, params }) {
    const run = await requireRun(context.sql, operatorOf(key), idOf(params.id));
    return { status: 200, body: viewRun(run) };
  },
});

const patchRoute = defineRoute({
  method: 'patch',
  path: '/admin/import-runs/:id',
  summary: 'Choose source, mapping and day of the files; they are examined again',
  scope: 'admin',
  params: idParams,
  body: runChange,
  responses: { 200: theRun },
  errors: [409],
  async handler({ context, key, params, body }) {
    const { source, ...change } = body;
    const chosen = source === undefined ? {} : { source: source === 'auto' ? null : source };
    const run = await changing(context.sql, operatorOf(key), params.id, (tx, run) =>
      changeOptions(tx, run, { ...omitUndefined(change), ...chosen }),
    );
    return { status: 200, body: viewRun(run) };
  },
});

const countRoute = defineRoute({
  method: 'post',
  path: '/admin/import-runs/:id/count',
  summary: 'Count what the import would change; nothing is written',
  scope: 'admin',
  params: idParams,
  responses: { 202: theRun },
  errors: [409],
  async handler({ context, key, params }) {
    const run = await changing(context.sql, operatorOf(key), params.id, countRun);
    return { status: 202, body: viewRun(run) };
  },
});

const startRoute = defineRoute({
  method: 'post',
  path: '/admin/import-runs/:id/start',
  summary: 'Import the files',
  scope: 'admin',
  params: idParams,
  query: z.strictObject({
    revision: z.string().optional().meta({
      description: 'The `revision` that the caller has seen: no other one is imported.',
    }),
  }),
  responses: { 202: theRun },
  errors: [409],
  async handler({ context, key, params, query }) {
    const run = await changing(context.sql, operatorOf(key), params.id, (tx, run) =>
      startRun(tx, run, query.revision),
    );
    return { status: 202, body: viewRun(run) };
  },
});

const cancelRoute = defineRoute({
  method: 'post',
  path: '/admin/import-runs/:id/cancel',
  summary: 'End an import before it has written anything, and delete its files',
  scope: 'admin',
  params: idParams,
  responses: { 200: theRun },
  errors: [409],
  async handler({ context, key, params }) {
    const run = await changing(context.sql, operatorOf(key), params.id, cancelRun);
    return { status: 200, body: viewRun(run) };
  },
});

const rejectsRoute = defineRoute({
  method: 'get',
  path: '/admin/import-runs/:id/rejects',
  summary: 'Rejected rows as JSON lines, with line and reason',
  scope: 'admin',
  params: idParams,
  responses: { 200: { description: 'At most 20 MiB of rows.', types: ['application/jsonl'] } },
  async handler({ context, key, credentials, params, response }) {
    const run = await requireRun(context.sql, operatorOf(key), idOf(params.id));
    const stored = rejectsKey(run.id);
    if ((await context.store.head(stored)) === null) {
      throw notFound('Rejected rows', 'The run has none, or they are no longer kept.');
    }
    holdDownload(run.accountId, response);
    response.attachment(`${run.files[0]?.name ?? 'import'}.rejects.jsonl`);
    response.setHeader('Content-Type', 'application/jsonl; charset=utf-8');
    await sendWhileValid(context, credentials, context.store.getStream(stored), response);
    return sent;
  },
});

export const importRunRoutes = [
  createRoute,
  listRoute,
  getRoute,
  patchRoute,
  addFileRoute,
  countRoute,
  startRoute,
  cancelRoute,
  rejectsRoute,
];

const idOf = (text: string) => parseId('Import run', text);

async function changing(
  sql: Sql,
  accountId: string,
  id: string,
  change: (tx: Sql, run: ImportRun) => Promise<ImportRun>,
): Promise<ImportRun> {
  return inTransaction(sql, async (tx) => change(tx, await requireRun(tx, accountId, idOf(id))));
}
