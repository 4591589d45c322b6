/**
 * The cost of a chunk and a single call in machine-independent counts: statements, transactions, rows and cells
 * decoded, objects and bytes written. A change that makes them more expensive is found here, not weeks later in
 * a measurement.
 */
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildCopy } from '../src/core/graph-copy/build-copy.ts';
import { packageRoot } from '../src/core/lib/package-root.ts';
import { type CountingProxy, openCountingProxy } from './support/counting-proxy.ts';
import { importGraph } from './support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from './support/pipeline.ts';
import { crowd } from './support/small-graph.ts';

const rowsPerChunk = 500;
const chunks = 4;
const people = rowsPerChunk * chunks;
const howToUpdate =
  'the work has changed. If intended, run `npx vitest run tests/work-counts.pg.test.ts -u` and say why in the commit';

let proxy: CountingProxy;
let pipeline: Pipeline;
let caller: Caller;

beforeAll(async () => {
  const environment = {
    CHUNK_ROWS: String(rowsPerChunk),
    // Few connections: each one queries the server's types on opening, which is counted too.
    DATABASE_CONNECTIONS: '2',
    // One chunk after the other: each is dispatched when the one before it ends.
    ACCOUNT_CHUNKS_MAX: '1',
  };
  pipeline = await openPipeline(environment, 'files', async (url) => {
    proxy = await openCountingProxy(url);
    return proxy.url;
  });
  await importGraph(pipeline.sql, { persons: crowd(people) });
  caller = await pipeline.account(1_000_000);
  // Every connection is open and initialised before counting starts.
  await pipeline.enrich(caller, list(people), { operation: 'people.enrich' });
  await Promise.all(Array.from({ length: 20 }, () => enrichOne()));
});

afterAll(async () => {
  await pipeline.close();
  proxy.close();
});

/** Three of four rows refer to stored people. */
function list(rows: number): string {
  const line = (row: number) => `p${row % 4 === 0 ? -row : row}@list.example`;
  return `Email\n${Array.from({ length: rows }, (_, index) => line(index + 1)).join('\n')}\n`;
}

async function enrichOne(): Promise<void> {
  const answer = await pipeline.call(caller, '/v1/people/enrich?email=p1@list.example');
  expect(answer.status).toBe(200);
  await answer.text();
}

interface Work {
  statements: Record<string, number>;
  transactions: number;
  rowsDecoded: number;
  cellsDecoded: number;
}

/** The database's work since the last call. */
function takeWork(): Work {
  const { statements, transactions, rows, cells } = proxy.take();
  const inOrder = Object.entries(statements).sort(([a], [b]) => a.localeCompare(b));
  return {
    statements: Object.fromEntries(inOrder),
    transactions,
    rowsDecoded: rows,
    cellsDecoded: cells,
  };
}

/** The database's work during `act`. */
async function workOf(act: () => Promise<unknown>): Promise<Work> {
  takeWork();
  await act();
  return takeWork();
}

/** The least of seven measurements: a slow machine gives timers, such as a lease's, the time for a statement more. */
async function least<Of extends Partial<Work>>(measure: () => Promise<Of>): Promise<Of> {
  const measured: Of[] = [];
  while (measured.length < 7) measured.push(await measure());
  const cost = ({ statements = {} }: Of) =>
    Object.values(statements).reduce((sum, count) => sum + count, 0);
  return measured.sort((a, b) => cost(a) - cost(b))[0] as Of;
}

/** A chunk in the middle of a list: everything from the previous chunk's write to its own, and its writes. */
async function chunkWork() {
  const { context, faults } = pipeline;
  const written: { chunk: number; key: string }[] = [];
  let work: Work | undefined;
  faults.put = async (key) => {
    const chunk = Number(/\/parts\/(\d+)-/.exec(key)?.[1]);
    const isFirst = !written.some((other) => other.chunk === chunk);
    written.push({ chunk, key });
    if (!isFirst) return;
    const since = takeWork();
    if (chunk === 3) work = since;
  };
  await pipeline.enrich(caller, list(people), { operation: 'people.enrich' });
  delete faults.put;
  const keys = written.filter(({ chunk }) => chunk === 3).map(({ key }) => key);
  const sizes = await Promise.all(keys.map((key) => context.store.head(key)));
  const bytesWritten = sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
  return { rowsOfTheChunk: rowsPerChunk, ...work, objectsWritten: keys.length, bytesWritten };
}

/** A call with a local copy of the graph, which was opened before, as by the heartbeat of an API. */
async function callFromCopy(): Promise<Work> {
  const { localCopy, sql } = pipeline.context;
  await buildCopy(pipeline.sql, { folder: localCopy.folder });
  await localCopy.read(sql, async () => null);
  // Without it Postgres answers, as when `dist`, of which its thread is a part, is missing or being built.
  expect(localCopy.describe().copy, 'no local copy: run `npm run build` first').not.toBeNull();
  return least(() => workOf(enrichOne));
}

test('a chunk, a list and a call have the committed counts of statements, rows and bytes', async () => {
  const counts = {
    chunk: await least(chunkWork),
    list: {
      chunks,
      ...(await least(() =>
        workOf(() => pipeline.enrich(caller, list(people), { operation: 'people.enrich' })),
      )),
    },
    call: await least(() => workOf(enrichOne)),
    callFromCopy: await callFromCopy(),
  };
  const committed = path.join(packageRoot, 'tests', 'support', 'work-counts.json');
  const text = `${JSON.stringify(counts, null, 2)}\n`;
  await expect(text, howToUpdate).toMatchFileSnapshot(committed);
});
