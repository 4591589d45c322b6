/**
 * The one table of options. Nothing else reads `process.env`; `.env.example` and `docs/config.md`
 * are generated from this table (`npm run docs`), and a test holds them equal.
 */
import path from 'node:path';
import { z } from 'zod';
import { AppError } from './lib/errors.ts';

interface Option<T> {
  env: string;
  doc: string;
  schema: z.ZodType<T, string | undefined>;
  /** What the documentation shows as the default. */
  shown: string;
}

const text = z.string().min(1);
const integer = (min: number, max: number, fallback: number) =>
  z.preprocess(
    (value) => (value === undefined ? fallback : Number(value)),
    z.number().int().min(min).max(max),
  ) as unknown as z.ZodType<number, string | undefined>;

function option<T>(
  env: string,
  shown: string,
  doc: string,
  schema: z.ZodType<T, string | undefined>,
): Option<T> {
  return { env, shown, doc, schema };
}

/** Every option: environment variable, default, meaning, parser. */
export const configOptions = {
  databaseUrl: option(
    'DATABASE_URL',
    '(the embedded server)',
    'Postgres 15 or newer. Without it the commands use the embedded server of the data folder.',
    z.url({ protocol: /^postgres(ql)?$/ }).optional() as z.ZodType<
      string | undefined,
      string | undefined
    >,
  ),
  dataDir: option(
    'ENRICH_DATA_DIR',
    '.enrich',
    'Folder of the embedded stack: database files, uploads, results, `up.json`.',
    text.default('.enrich').transform((folder) => path.resolve(folder)),
  ),
  databaseConnections: option(
    'DATABASE_CONNECTIONS',
    '8',
    'Connections to Postgres that one process opens at most for each of the two graphs.',
    integer(1, 200, 8),
  ),
  port: option(
    'PORT',
    '8080',
    'Port of the HTTP API. 0 picks a free one.',
    integer(0, 65535, 8080),
  ),
  metricsPort: option(
    'METRICS_PORT',
    '0',
    'Port of `/metrics` on loopback. 0 picks a free one; `up.json` tells which.',
    integer(0, 65535, 0),
  ),
  host: option(
    'HOST',
    '127.0.0.1',
    'Address that the HTTP API listens on.',
    text.default('127.0.0.1'),
  ),
  logLevel: option(
    'LOG_LEVEL',
    'info',
    'One of trace, debug, info, warn, error, fatal, silent. Logs are JSON lines on stderr.',
    z
      .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
      .default('info') as z.ZodType<string, string | undefined>,
  ),
  uploadBytesMax: option(
    'UPLOAD_BYTES_MAX',
    '209715200',
    'Largest file that an upload may hold, in bytes.',
    integer(1, Number.MAX_SAFE_INTEGER, 200 * 1024 * 1024),
  ),
  batchRowsMax: option(
    'BATCH_ROWS_MAX',
    '1000000',
    'Most rows that one batch may hold.',
    integer(1, 10_000_000, 1_000_000),
  ),
  chunkRows: option(
    'CHUNK_ROWS',
    '5000',
    'Rows of a chunk, the unit of work and of charging. Below 2,500 the queue costs more than it gives.',
    integer(1, 100_000, 5_000),
  ),
  workerConcurrency: option(
    'WORKER_CONCURRENCY',
    '3',
    'Chunks that one worker process has in flight. Workers times this should be about the cores of the database.',
    integer(1, 64, 3),
  ),
  accountChunksMax: option(
    'ACCOUNT_CHUNKS_MAX',
    '8',
    'Chunks of one account that may be dispatched at once, so that no account fills the queue.',
    integer(1, 1000, 8),
  ),
  filesKeepDays: option(
    'FILES_KEEP_DAYS',
    '30',
    'Days that uploads and results are kept after a batch has ended. Counts and charges stay.',
    integer(1, 3650, 30),
  ),
  apiUrl: option(
    'ENRICH_URL',
    '(the running `enrich up` of the data folder)',
    'Base address that the client commands talk to.',
    z.url().optional() as z.ZodType<string | undefined, string | undefined>,
  ),
  apiKey: option(
    'ENRICH_API_KEY',
    '(none)',
    'Key that the client commands send.',
    text.optional() as z.ZodType<string | undefined, string | undefined>,
  ),
} satisfies Record<string, Option<unknown>>;

export type Config = {
  readonly [Name in keyof typeof configOptions]: (typeof configOptions)[Name] extends Option<
    infer Value
  >
    ? Value
    : never;
};

/** The environment of this process with some options changed, for starting another process. */
export function environmentWith(
  changes: { [Name in keyof Config]?: string },
  environment: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv {
  const changed = { ...environment };
  for (const [name, value] of Object.entries(changes)) {
    changed[configOptions[name as keyof Config].env] = value;
  }
  return changed;
}

/**
 * Reads the configuration from the environment; empty variables count as absent.
 * Throws `AppError` `invalid_configuration` that names every wrong variable.
 */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  const errors: { field: string; message: string }[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, { env, schema }] of Object.entries(configOptions)) {
    const parsed = schema.safeParse(environment[env] || undefined);
    if (parsed.success) values[name] = parsed.data;
    else errors.push({ field: env, message: parsed.error.issues.map((i) => i.message).join('; ') });
  }
  if (errors.length > 0) {
    const named = errors.map((error) => `${error.field}: ${error.message}`).join('. ');
    throw new AppError({
      code: 'invalid_configuration',
      status: 500,
      message: `The environment holds options that cannot be used. ${named}.`,
      errors,
    });
  }
  return values as unknown as Config;
}
