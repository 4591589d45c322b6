/**
 * The one table of options. Nothing else reads `process.env`. `.env.example` and `docs/config.md` are generated
 * from this table (`npm run docs`); a test checks that they match.
 */
import path from 'node:path';
import { z } from 'zod';
import { AppError } from './lib/errors.ts';
import { Secret } from './lib/secret.ts';
import {
  bucketFolder,
  databaseUrl,
  hostNames,
  integer,
  onByDefault,
  optionalText,
  postgresUrls,
  proxies,
  redisUrl,
  text,
} from './option-schemas.ts';
import { type StorageConfig, storageOf } from './storage-config.ts';

interface NamedError {
  field: string;
  message: string;
}

interface Option<T> {
  env: string;
  doc: string;
  schema: z.ZodType<T, string | undefined>;
  /** The default as the documentation shows it. */
  shown: string;
}

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
    'Postgres 15 or newer. Without it the commands use the embedded server of the data folder. A primary and its standbys are several servers, separated by commas: `postgres://enrich:...@db1:5432,db2:5432/enrich?target_session_attrs=read-write`.',
    databaseUrl,
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
    'Maximum number of Postgres connections that one process opens for each of the two graphs, and again for the searches in each. An import needs two: one has its lock.',
    integer(2, 200, 8),
  ),
  databaseReplicaUrls: option(
    'DATABASE_REPLICA_URLS',
    '(none)',
    'Streaming replicas of DATABASE_URL, separated by commas. Lookups and person searches read from them; charges, opt-outs and do-not-contact lists are always read from the primary.',
    postgresUrls,
  ),
  databaseReplicaLagMs: option(
    'DATABASE_REPLICA_LAG_MS',
    '10000',
    'Maximum replication lag in milliseconds. A replica that lags further is not read until it has caught up.',
    integer(100, 3_600_000, 10_000),
  ),
  redisUrl: option(
    'REDIS_URL',
    '(queue and limits in Postgres)',
    'Redis 6.2 or newer, or Valkey, for the queue and the limits; rediss:// for TLS. Several nodes separated by commas are a Redis Cluster. It must not evict: `maxmemory-policy noeviction`.',
    redisUrl.optional() as z.ZodType<string | undefined, string | undefined>,
  ),
  redisPrefix: option(
    'REDIS_PREFIX',
    'enrich',
    'Prefix of every Redis key, so that several installations can share one server. Each needs its own: with the same prefix they take each other’s wake-ups, and each list waits for the sweep, for half a minute or longer.',
    z
      .string()
      .regex(/^[\w.-]+$/, 'must be letters, digits, `_`, `.` and `-`')
      .default('enrich'),
  ),
  apiProcesses: option(
    'API_PROCESSES',
    '1',
    'Number of API processes that share the limits. While Redis is unavailable, each process admits its share on its own.',
    integer(1, 1000, 1),
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
    'Port of `/metrics`. `up` serves the metrics of all its processes there; an API or worker that runs separately serves its own. 0 picks a free port, which is written to the log and to `up.json`.',
    integer(0, 65535, 0),
  ),
  metricsHost: option(
    'METRICS_HOST',
    '127.0.0.1',
    'Address that `/metrics` listens on. It requires no key: keep it inside the network.',
    text.default('127.0.0.1'),
  ),
  host: option(
    'HOST',
    '127.0.0.1',
    'Address that the HTTP API listens on.',
    text.default('127.0.0.1'),
  ),
  trustProxy: option(
    'TRUST_PROXY',
    '(none: forwarding headers are ignored)',
    'Trusted proxies in front of the API, whose `X-Forwarded-For` and `X-Forwarded-Proto` are used: their number, or their addresses and ranges separated by commas, such as `10.0.0.0/8,loopback`. With a number that is too high, any caller can choose the address that it is counted by.',
    proxies,
  ),
  logLevel: option(
    'LOG_LEVEL',
    '(info; warn in a terminal)',
    'One of trace, debug, info, warn, error, fatal, silent. Logs are JSON lines on stderr, in a terminal plain lines.',
    z
      .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
      .default(() => (process.stderr.isTTY ? 'warn' : 'info')) as z.ZodType<
      string,
      string | undefined
    >,
  ),
  isCi: option(
    'CI',
    '(not set)',
    'Set by build servers. `enrich demo` then ends when it is done, in a terminal too.',
    z
      .string()
      .optional()
      .transform((value) => value !== undefined && !['', '0', 'false'].includes(value)),
  ),
  otlpEndpoint: option(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    '(no traces)',
    'Base address of an OpenTelemetry receiver that takes OTLP over HTTP, such as http://collector:4318. Each upload is one trace, from its request to its last chunk.',
    z.url({ protocol: /^https?$/ }).optional() as z.ZodType<string | undefined, string | undefined>,
  ),
  traceRatio: option(
    'OTEL_TRACES_SAMPLER_ARG',
    '1',
    'Share of requests and jobs that are traced, from 0 to 1, when a receiver is set.',
    z.preprocess(
      (value) => (value === undefined ? 1 : Number(value)),
      z.number().min(0).max(1),
    ) as unknown as z.ZodType<number, string | undefined>,
  ),
  s3Bucket: option(
    'S3_BUCKET',
    '(files in the data folder)',
    'Bucket for uploads and results. Add a lifecycle rule that aborts multipart uploads left incomplete for a day: a process that was killed cannot abort its own.',
    optionalText,
  ),
  s3Region: option(
    'S3_REGION',
    'us-east-1',
    'Region of the bucket. Most other S3 servers accept any value.',
    text.default('us-east-1'),
  ),
  s3Endpoint: option(
    'S3_ENDPOINT',
    '(the AWS endpoint of the region)',
    'Address of another S3-compatible server. Callers of `POST /v1/uploads` must be able to reach it at this address too.',
    z.url({ protocol: /^https?$/ }).optional() as z.ZodType<string | undefined, string | undefined>,
  ),
  s3AccessKeyId: option(
    'S3_ACCESS_KEY_ID',
    "(the AWS SDK's credential chain: environment, profile, machine role)",
    'Access key that may read, write, list and delete in the bucket. Set it together with S3_SECRET_ACCESS_KEY or not at all.',
    optionalText,
  ),
  s3SecretAccessKey: option(
    'S3_SECRET_ACCESS_KEY',
    '(none)',
    'Secret key of S3_ACCESS_KEY_ID.',
    text.transform((secret) => new Secret(secret)).optional() as z.ZodType<
      Secret | undefined,
      string | undefined
    >,
  ),
  s3Prefix: option(
    'S3_PREFIX',
    '(the whole bucket)',
    'Folder of the bucket that holds everything, such as `enrich/production`.',
    bucketFolder,
  ),
  uploadBytesMax: option(
    'UPLOAD_BYTES_MAX',
    '209715200',
    'Maximum size of an uploaded file, in bytes.',
    integer(1, Number.MAX_SAFE_INTEGER, 200 * 1024 * 1024),
  ),
  importBytesMax: option(
    'IMPORT_BYTES_MAX',
    '8589934592',
    'Maximum size of one file that an operator imports in the console or with `POST /admin/import-runs`, in bytes. The worker that imports it needs as much disk space in its folder for temporary files.',
    integer(1, Number.MAX_SAFE_INTEGER, 8 * 1024 ** 3),
  ),
  storedBytesMax: option(
    'STORED_BYTES_MAX',
    '21474836480',
    'Maximum bytes that one account may store: the files of uploads, results and exports until they are deleted, and UPLOAD_BYTES_MAX for each open upload address. A list that has not ended counts with the maximum size of its result without paid answers. Beyond it new lists and exports are refused (409 `storage_full`), and a list whose result may not fit fails when it is split, uncharged; paid answers are always stored. The default holds a hundred of the largest uploads, or about ten results of a million rows with all fields.',
    integer(1, Number.MAX_SAFE_INTEGER, 20 * 1024 ** 3),
  ),
  batchRowsMax: option(
    'BATCH_ROWS_MAX',
    '1000000',
    'Maximum number of rows in one batch.',
    integer(1, 10_000_000, 1_000_000),
  ),
  mobileInRecords: option(
    'MOBILE_IN_RECORDS',
    'true',
    'Records of people show `mobile`, as in the specification. `false` leaves it empty in records, searches and exports, so that only `people.mobile`, at its own price, returns the number. Lists and files that were delivered before keep it; lists, exports and schedules that chose the field by name before end with the reason, without a further charge.',
    onByDefault,
  ),
  chunkRows: option(
    'CHUNK_ROWS',
    '10000',
    'Maximum rows of a chunk, the unit of work and of charging. A chunk has a fixed cost: with 3,000 rows a list takes a third longer, and a worker 60 MiB less.',
    integer(1, 100_000, 10_000),
  ),
  workerConcurrency: option(
    'WORKER_CONCURRENCY',
    '3',
    'Chunks that one worker process has in flight. The number of workers times this value should be about the number of cores of the database.',
    integer(1, 64, 3),
  ),
  buildsLocalCopy: option(
    'BUILD_LOCAL_COPY',
    'true',
    'Workers build a local copy of a large graph in ENRICH_DATA_DIR automatically, once lists are long enough to gain from it. With S3 they publish it to the bucket, and fetch it from there on machines without one. `false` leaves building to `enrich graph copy build`, and neither publishes nor fetches.',
    onByDefault,
  ),
  accountChunksMax: option(
    'ACCOUNT_CHUNKS_MAX',
    '8',
    'Maximum number of chunks of one account that run or are queued at once, so that no account takes all workers.',
    integer(1, 1000, 8),
  ),
  openListsMax: option(
    'OPEN_LISTS_MAX',
    '500',
    'Maximum number of unfinished lists and exports of one account, held and paused ones included. The next one is refused with 429.',
    integer(1, 1_000_000, 500),
  ),
  searchTimeoutMs: option(
    'SEARCH_TIMEOUT_MS',
    '5000',
    'Total milliseconds that the database may spend on one person search or preview. After that it is cancelled, and the 503 response says what to do instead.',
    integer(1, 600_000, 5_000),
  ),
  exportSearchTimeoutMs: option(
    'EXPORT_SEARCH_TIMEOUT_MS',
    '120000',
    'Milliseconds that the database may spend on each ten thousand people of an export. After that the export fails with `search_timeout` and says what to do instead. The size of the export does not matter.',
    integer(1, 3_600_000, 120_000),
  ),
  filesKeepDays: option(
    'FILES_KEEP_DAYS',
    '30',
    'Days that uploads and results are kept after a batch has ended. Counts and charges are kept. A batch that has been held or paused for that long is cancelled (`reason` is `expired`).',
    integer(1, 3650, 30),
  ),
  webhookAllowedHosts: option(
    'WEBHOOK_ALLOWED_HOSTS',
    '(none)',
    'Hosts that webhooks may point to although they are not public, on any port and over http too: names or addresses separated by commas, such as `hooks.internal,10.0.0.5`. Every user who can create webhooks can reach them through the service.',
    hostNames,
  ),
  webhookEncryptionKey: option(
    'WEBHOOK_ENCRYPTION_KEY',
    '(webhook secrets are stored unencrypted)',
    'Key that encrypts the signing secrets of webhooks in the database: 32 bytes in base64, as `openssl rand -base64 32` prints. API and workers need the same key. If it is lost or changed, the secrets that it encrypted cannot be read: rotate them.',
    z
      .string()
      .refine((text) => /^[A-Za-z0-9+/]{43}=$/.test(text), 'must be 32 bytes in base64')
      .transform((text) => new Secret(text))
      .optional() as z.ZodType<Secret | undefined, string | undefined>,
  ),
  apiUrl: option(
    'ENRICH_URL',
    '(the running `enrich up` of the data folder)',
    'Base address of the API that the client commands call.',
    z.url().optional() as z.ZodType<string | undefined, string | undefined>,
  ),
  backupPassphrase: option(
    'ENRICH_BACKUP_PASSPHRASE',
    '(none)',
    'Passphrase of encrypted backups, twelve characters or more: `backup --encrypt` and `restore`.',
    text
      .min(12, 'must have 12 characters or more')
      .transform((secret) => new Secret(secret))
      .optional() as z.ZodType<Secret | undefined, string | undefined>,
  ),
  apiKey: option(
    'ENRICH_API_KEY',
    '(none)',
    'Key that the client commands send.',
    text.optional() as z.ZodType<string | undefined, string | undefined>,
  ),
} satisfies Record<string, Option<unknown>>;

type OptionValues = {
  readonly [Name in keyof typeof configOptions]: (typeof configOptions)[Name] extends Option<
    infer Value
  >
    ? Value
    : never;
};

export type Config = Omit<OptionValues, `s3${string}`> & { readonly storage: StorageConfig };

/** Options as text, keyed by their names in this table. */
export type OptionTexts = { readonly [Name in keyof OptionValues]?: string };

/** Returns the environment of this process with some options changed, for starting another process. */
export function environmentWith(
  changes: OptionTexts,
  environment: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv {
  const changed = { ...environment };
  for (const [name, value] of Object.entries(changes)) {
    changed[configOptions[name as keyof OptionValues].env] = value;
  }
  return changed;
}

/**
 * Returns the environment of this process with only these options of the service set. Options that are set for the
 * service must not reach a process that is measured or tested.
 */
export function environmentWithOnly(
  options: OptionTexts,
  environment: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv {
  const unset = Object.fromEntries(Object.keys(configOptions).map((name) => [name, '']));
  return environmentWith({ ...unset, ...options }, environment);
}

/**
 * Reads the configuration from the environment; empty variables count as absent. Throws `AppError`
 * `invalid_configuration`, which names every wrong variable.
 */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  const errors: NamedError[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, { env, schema }] of Object.entries(configOptions)) {
    const parsed = schema.safeParse(environment[env] || undefined);
    if (parsed.success) values[name] = parsed.data;
    else errors.push({ field: env, message: parsed.error.issues.map((i) => i.message).join('; ') });
  }
  const options = values as unknown as OptionValues;
  errors.push(...findHalfSet(environment));
  if (errors.length > 0) {
    const named = errors.map((error) => `${error.field}: ${error.message}`).join('. ');
    throw new AppError({
      code: 'invalid_configuration',
      status: 500,
      message: `The configuration is not valid. ${named}.`,
      errors,
    });
  }
  return { ...options, storage: storageOf(options) };
}

/** Options that have no effect, or cannot work, unless another option is set too. */
const dependencies: [option: string, needs: string][] = [
  ['DATABASE_REPLICA_URLS', 'DATABASE_URL'],
  ['S3_ENDPOINT', 'S3_BUCKET'],
  ['S3_PREFIX', 'S3_BUCKET'],
  ['S3_ACCESS_KEY_ID', 'S3_BUCKET'],
  ['S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'],
  ['S3_SECRET_ACCESS_KEY', 'S3_ACCESS_KEY_ID'],
];

function findHalfSet(environment: NodeJS.ProcessEnv): NamedError[] {
  return dependencies
    .filter(([option, needs]) => environment[option] && !environment[needs])
    .map(([option, needs]) => ({ field: needs, message: `must be set, because ${option} is` }));
}
