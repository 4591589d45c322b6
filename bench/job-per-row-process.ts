/**
 * A typical first worker: one job per row of the list, looked up and written separately, 50 at a time. Forked;
 * notifies its parent when the rows are done.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { readConfig } from '../src/core/config.ts';
import { connect } from '../src/core/db/client.ts';
import { must } from '../src/core/lib/assert.ts';
import { packageRoot } from '../src/core/lib/package-root.ts';
import { answerParent } from './answer-parent.ts';
import { enrichRow } from './bench.sql.ts';
import { openRowBackend, ROW_QUEUE, type RowJob } from './row-queue.ts';

const CONCURRENCY = 50;

const config = readConfig();
const url = must(config.databaseUrl, 'DATABASE_URL');
const lookUp = await readFile(
  path.join(packageRoot, 'bench', 'reference', 'job-per-row.sql'),
  'utf8',
);
// BullMQ has connections of its own.
const sql = connect({ url, connections: 10 });
let done = 0;
let goal = Number.POSITIVE_INFINITY;
let reach = () => {};

const worker = openRowBackend(config, url).openWorker(
  ROW_QUEUE,
  async ({ data }) => {
    await enrichRow(sql, lookUp, data as RowJob);
    done++;
    if (done === goal) reach();
  },
  { concurrency: CONCURRENCY },
);
await worker.waitUntilReady();

/** Answers with the number of rows once that many more are done. */
answerParent(async (rows: number) => {
  done = 0;
  goal = rows;
  await new Promise<void>((resolve) => {
    reach = resolve;
  });
  return done;
});
