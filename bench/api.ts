/**
 * Single calls: a person by email over HTTP, with key, limits and charge, and the account checked after every
 * run. Compared with an Express app that only does one SELECT on the same server.
 */
import path from 'node:path';
import { createAccount } from '../src/core/accounts/accounts.ts';
import { readConfig } from '../src/core/config.ts';
import { createKey } from '../src/core/keys/keys.ts';
import { assert } from '../src/core/lib/assert.ts';
import { listEmails, readCharges } from './bench.sql.ts';
import type { BenchStack } from './bench-stack.ts';
import type { BenchResult } from './benchmark.ts';
import { askChild, type Child, startChild, startRedis } from './child.ts';
import type { Fired, Load } from './fire-requests.ts';
import { interleave, median, type Run } from './interleave.ts';
import { cpuBetween, readCpu } from './process-cost.ts';

const CONNECTIONS = 32;
const CREDITS_EACH = 1_000_000_000;

export interface ApiOptions {
  name: string;
  store: 'embedded' | 'redis';
  /** Accounts that call concurrently, each with a key and a wallet. */
  wallets: number;
  requests: number;
  runs: number;
}

/**
 * Measures single calls. Throws when a response is missing, or when the numbers of responses, ledger lines and
 * spent credits differ. Without Redis its measurements are skipped.
 */
export async function measureApi(
  stack: BenchStack,
  options: ApiOptions,
  say: (line: string) => void,
): Promise<BenchResult[]> {
  const emails = await listEmails(stack.sql, options.requests);
  assert(emails.length === options.requests, 'the graph has an address for every request');
  await using redis = options.store === 'redis' ? await startRedis() : null;
  if (options.store === 'redis' && redis === null) {
    say('skipped: redis-server not found');
    return [];
  }
  await using own = redis === null ? null : await startApiOn(stack, redis);
  await using bare = await startChild('bench/bare-api.js', { databaseUrl: stack.databaseUrl });
  const api = own ?? { url: stack.url, pid: stack.pids.api };
  const pairs = await interleave(
    options.runs,
    () => runOurs(stack, api, emails, options),
    async () => {
      const paths = emails.map((email) => `/person?email=${encodeURIComponent(email)}`);
      const load = { url: bare.url, connections: CONNECTIONS, paths, keys: [] };
      const run = await fire(stack, bare.pid, load);
      assert(run.matched === paths.length, 'the bare service answers every request');
      return run;
    },
  );
  const shared = {
    against: 'Express 5 with one SELECT from the address to the stored record, no accounting',
    details: {
      requests: options.requests,
      connections: CONNECTIONS,
      wallets: options.wallets,
      databaseConnections: readConfig().databaseConnections,
    },
  };
  const middle = (side: 'ours' | 'reference', figure: 'requestsPerSecond' | 'p99Ms') =>
    median(pairs.map((pair) => Number(pair[side][figure])));
  return [
    {
      ...shared,
      name: options.name,
      unit: 'requests/s',
      ours: middle('ours', 'requestsPerSecond'),
      reference: middle('reference', 'requestsPerSecond'),
      better: 'higher',
      goal: 0.85,
      runs: pairs,
    },
    {
      ...shared,
      name: `${options.name}-p99`,
      unit: 'ms',
      ours: middle('ours', 'p99Ms'),
      reference: middle('reference', 'p99Ms'),
      better: 'lower',
      goal: 2,
      runs: [],
    },
  ];
}

function startApiOn(stack: BenchStack, redis: Child): Promise<Child> {
  return startChild('workers/api.js', {
    databaseUrl: stack.databaseUrl,
    redisUrl: redis.url,
    // The database refuses another store than its own.
    dataDir: path.dirname(stack.objects),
    logLevel: 'warn',
    port: '0',
  });
}

/** Creates accounts, sends one request for each address, and checks the ledger afterwards. */
async function runOurs(
  stack: BenchStack,
  api: { url: string; pid: number },
  emails: readonly string[],
  { wallets }: ApiOptions,
): Promise<Run> {
  const accounts: { accountId: string; key: string }[] = [];
  for (let place = 0; place < wallets; place++) {
    const accountId = await createAccount(stack.sql, { name: 'Bench', credits: CREDITS_EACH });
    // Metered like any other key's calls, but never refused.
    const limits = { requestsPerMinute: 10_000_000, requestsPerDay: 1_000_000_000 };
    const { key } = await createKey(stack.sql, { accountId, mode: 'live', ...limits });
    accounts.push({ accountId, key });
  }
  const paths = emails.map((email) => `/v1/people/enrich?email=${encodeURIComponent(email)}`);
  const keys = accounts.map(({ key }) => key);
  const run = await fire(stack, api.pid, { url: api.url, connections: CONNECTIONS, paths, keys });
  const { lines, charged, gone } = await readCharges(
    stack.sql,
    accounts.map(({ accountId }) => accountId),
    CREDITS_EACH,
  );
  assert(run.matched === paths.length, `${run.others} of the calls were not answered with 200`);
  assert(lines === run.matched, `${run.matched} answers, ${lines} ledger lines`);
  assert(charged === lines && gone === lines, `${lines} lines, ${charged} charged, ${gone} gone`);
  return run;
}

async function fire(stack: BenchStack, pid: number, load: Load): Promise<Run & Fired> {
  const pids = { node: [pid], postgres: stack.pids.postgres };
  const cpu = await readCpu(pids);
  const fired = await askChild<Fired>('bench/fire-requests.js', load);
  const cpuSeconds = cpuBetween(cpu, await readCpu(pids));
  return { wallSeconds: fired.seconds, ...fired, cpuSeconds };
}
