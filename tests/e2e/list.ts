/** A long list in the service, driven over its API: uploaded, observed midway, read at its end. */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { writeLeadFiles } from '../../samples/generate/generate-leads.ts';
import type { Batch } from '../../src/client/api-types.ts';
import { type Client, createClient } from '../../src/client/client.ts';
import { connect, type Database } from '../../src/core/db/client.ts';
import { CHUNK_ROWS } from './processes.ts';
import { waitFor } from './wait-for.ts';

const LOOK_AGAIN_MS = 200;
const midwayMsMax = 60_000;
/** Allows for a lease that has to expire (12 s), on a busy machine. */
const endMsMax = 110_000;

/** The addresses of a service and its database, however it was started. */
interface Addresses {
  up: { url: string; database_url: string };
}

/** A fingerprint of a result. */
export interface Result {
  sha256: string;
  lines: number;
}

/** Rows of the list of `writeList`: twenty chunks, so that it is seen midway. */
export const LIST_ROWS = 20 * CHUNK_ROWS;

/** Writes a list of plain leads about the service's graph to `file`; the same graph gives the same list. */
export async function writeList(service: Addresses, file: string): Promise<void> {
  const truth = path.join(path.dirname(file), 'truth.csv');
  await withSql(service, (sql) =>
    writeLeadFiles(sql, { rows: LIST_ROWS, seed: 1, style: 'plain' }, { leads: file, truth }),
  );
}

/** Runs `work` on the service's own database. */
export async function withSql<T>(
  service: Addresses,
  work: (sql: Database) => Promise<T>,
): Promise<T> {
  const sql = connect({ url: service.up.database_url, connections: 1 });
  try {
    return await work(sql);
  } finally {
    await sql.end();
  }
}

/** An uploaded list, whatever then happens to the service. */
export interface RunningList {
  id: string;
  client: Client;
}

export async function uploadList(
  service: Addresses,
  apiKey: string,
  file: string,
): Promise<RunningList> {
  const client = createClient(service.up.url, apiKey);
  const { id } = await client.createBatch(file, { operation: 'people.enrich' });
  return { id, client };
}

/** Resolves when some rows are done and others are not. */
export async function untilMidway({ id, client }: RunningList): Promise<void> {
  await waitFor('the list is midway', midwayMsMax, async () => {
    const { state, rows } = await client.getBatch(id);
    if (state === 'completed') throw new Error('the list was done before it could be disturbed');
    return state === 'running' && rows.processed > 0;
  });
}

/** The batch at its end; calls `meanwhile` at every poll before. */
export async function untilEnded(
  { id, client }: RunningList,
  meanwhile: () => Promise<void> = async () => {},
): Promise<Batch> {
  return await waitFor('the list ends', endMsMax, async () => {
    await meanwhile();
    // Within an account's sustained limit of ten calls a second.
    await delay(LOOK_AGAIN_MS);
    // While a part of the service is unavailable, it responds with an error or not at all.
    const batch = await client.getBatch(id).catch(() => undefined);
    return batch && ['completed', 'cancelled', 'failed'].includes(batch.state) && batch;
  });
}

export async function readResult({ id, client }: RunningList): Promise<Result> {
  const { stream } = await client.getResults(id);
  return await digest(stream);
}

/** Digest and number of lines of a file or of a stream of bytes. */
export async function digest(bytes: AsyncIterable<Buffer>): Promise<Result> {
  const hash = createHash('sha256');
  let lines = 0;
  for await (const block of bytes) {
    hash.update(block);
    for (let at = block.indexOf(10); at >= 0; at = block.indexOf(10, at + 1)) lines += 1;
  }
  return { sha256: hash.digest('hex'), lines };
}
