/**
 * Twenty accounts with lists of different numbers and lengths, started together: measures how evenly finished
 * rows are shared while all have work. Also measures a short list of a late account.
 */
import { setTimeout } from 'node:timers/promises';
import { type Client, createClient } from '../src/client/client.ts';
import { must } from '../src/core/lib/assert.ts';
import { readProgress } from './bench.sql.ts';
import { type BenchStack, createBenchKey, leadList } from './bench-stack.ts';
import type { BenchResult } from './benchmark.ts';
import { upload } from './line.ts';
import { completed, secondsSince } from './measured-run.ts';
import { describeShortLists, runShortList } from './short-list.ts';

const ACCOUNTS = 20;
const EVENNESS_MIN = 0.9;
/** Rows of the account with the least work: ten parts, so that the two by which the first to start is ahead weigh little. */
const LIST_ROWS = 50_000;
const LOOK_MS = 20;

interface SharingOptions {
  /** Four times those of the longest lists. */
  rows: number;
  fields: readonly string[];
  say: (line: string) => void;
}

/** Lists of an account that wait for their start. */
interface Tenant {
  client: Client;
  ids: string[];
}

/** Measures both. Throws when a list fails. */
export async function measureSharing(
  stack: BenchStack,
  options: SharingOptions,
  workers: number,
): Promise<BenchResult[]> {
  const tenants = await holdLists(stack, options);
  const everyList = tenants.flatMap(({ client, ids }) => ids.map((id) => ({ client, id })));
  await Promise.all(everyList.map(({ client, id }) => client.controlBatch(id, 'start')));
  const started = performance.now();
  const ids = everyList.map(({ id }) => id);
  const before = await readProgress(stack.sql, ids);
  const newcomer = runShortList(stack, options.say);
  let now = before;
  const hasWork = (tenant: Tenant) => tenant.ids.some((id) => !must(now.get(id), 'list').isDone);
  while (tenants.every(hasWork)) {
    await setTimeout(LOOK_MS);
    now = await readProgress(stack.sql, ids);
  }
  const wallSeconds = secondsSince(started);
  const newcomerSeconds = await newcomer;
  const rowsOf = (progress: typeof now, { ids: own }: Tenant) =>
    own.reduce((sum, id) => sum + must(progress.get(id), 'list').rows, 0);
  const shares = tenants.map((tenant) => rowsOf(now, tenant) - rowsOf(before, tenant));
  for (const { client, id } of everyList) await end(client, id);
  const name = `${workers}-worker${workers === 1 ? '' : 's'}`;
  return [
    {
      name: `load-sharing-${name}`,
      unit: '',
      ours: evennessOf(shares),
      reference: 1,
      against: `1, the index of even shares among ${ACCOUNTS} accounts (Jain)`,
      better: 'higher',
      goal: EVENNESS_MIN,
      details: { workers, shares },
      runs: [{ ours: { wallSeconds }, reference: { wallSeconds } }],
    },
    describeShortLists(
      `load-short-list-among-twenty-${name}`,
      [newcomerSeconds],
      `${ACCOUNTS} other accounts have work`,
    ),
  ];
}

/**
 * R. Jain's index of fairness (DEC-TR-301, 1984): 1 when all have the same, 1/n when one of n has all, 0 when
 * none has anything.
 */
export function evennessOf(shares: readonly number[]): number {
  const sum = shares.reduce((total, share) => total + share, 0);
  const squares = shares.reduce((total, share) => total + share ** 2, 0);
  return sum === 0 ? 0 : Number((sum ** 2 / (shares.length * squares)).toFixed(3));
}

/** Every fourth account has one list, two, four, and a long one. */
async function holdLists(
  stack: BenchStack,
  { rows, fields, say }: SharingOptions,
): Promise<Tenant[]> {
  const one = await leadList(stack, LIST_ROWS, say);
  const long = await leadList(stack, rows / 4, say);
  const kinds = [[one], [one, one], [one, one, one, one], [long]];
  const tenants: Tenant[] = [];
  for (let place = 0; place < ACCOUNTS; place++) {
    const key = await createBenchKey(stack.sql);
    const client = createClient(stack.url, key);
    const lists = must(kinds[place % kinds.length], 'lists');
    const ids: string[] = [];
    for (const leads of lists)
      ids.push(await upload(stack.url, key, { fields, leads, hold: true }));
    tenants.push({ client, ids });
  }
  for (const { client, ids } of tenants) {
    for (const id of ids) {
      while ((await client.getBatch(id)).state !== 'ready') await setTimeout(LOOK_MS);
    }
  }
  return tenants;
}

/** Cancels unfinished lists, so that the next measurement has the machine to itself. */
async function end(client: Client, id: string): Promise<void> {
  const isDone = (await client.getBatch(id)).state === 'completed';
  if (!isDone)
    await client.controlBatch(id, 'cancel').catch(() => completed(() => client.getBatch(id)));
}
