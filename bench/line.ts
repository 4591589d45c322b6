/**
 * The main benchmark: a list is uploaded over HTTP, matched, charged and written to a result. Compared with the
 * same join as a script on the same server (COPY in, one join, COPY out) and by DuckDB on its own copy, both
 * without accounting and recovery, and with the same rows.
 */
import { createReadStream } from 'node:fs';
import { copyFile, stat } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Batch } from '../src/client/api-types.ts';
import { countPersons, readGraphBytes } from './bench.sql.ts';
import type { BenchStack } from './bench-stack.ts';
import type { BenchResult } from './benchmark.ts';
import type { Run } from './interleave.ts';
import { type Measurement, measure } from './measure.ts';
import { type MeasuredWork, runMeasured } from './measured-run.ts';
import type { CostlyPids } from './process-cost.ts';

export interface LineOptions extends Omit<Measurement, 'prepare'> {
  /** Names of the record's fields to write; null for all of them. */
  fields: readonly string[] | null;
  leads: string;
}

/** Measures the line with some columns. Throws when the two results differ in any cell. */
export async function measureLine(stack: BenchStack, options: LineOptions): Promise<BenchResult[]> {
  const prepare = (folder: string) => copyFile(options.leads, path.join(folder, 'leads.csv'));
  const results = await measure(stack, lineWork(stack, options), { ...options, prepare });
  const graph = { persons: await countPersons(stack.sql), bytes: await readGraphBytes(stack.sql) };
  return results.map((result) => ({ ...result, details: { ...result.details, graph } }));
}

/** Runs the list once, from its upload to its result in a file. */
export function runLine(
  stack: BenchStack,
  options: Pick<LineOptions, 'fields' | 'leads'>,
  pids: CostlyPids,
  result: string,
): Promise<{ id: string; run: Run }> {
  return runMeasured(stack, lineWork(stack, options), pids, result);
}

/** The line as work to measure. */
export function lineWork(
  { url }: BenchStack,
  options: Pick<LineOptions, 'fields' | 'leads'>,
): MeasuredWork {
  return {
    start: (_client, key) => upload(url, key, options),
    read: (client, id) => client.getBatch(id),
    results: (client, id) => client.getResults(id),
  };
}

/** Sends the list as stored on disk: the bare file as the body, its options in the query. */
export async function upload(
  url: string,
  key: string,
  options: Pick<LineOptions, 'fields' | 'leads'> & { hold?: boolean },
): Promise<string> {
  const target = new URL('/v1/batches', url);
  target.searchParams.set('operation', 'people.enrich');
  if (options.hold) target.searchParams.set('hold', 'true');
  if (options.fields !== null) target.searchParams.set('fields', options.fields.join(','));
  const { size } = await stat(options.leads);
  const request = http.request(target, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'text/csv',
      'Content-Length': size,
    },
  });
  const answer = new Promise<http.IncomingMessage>((resolve, reject) => {
    request.once('response', resolve);
    request.once('error', reject);
  });
  const sent = pipeline(createReadStream(options.leads, { highWaterMark: 1 << 18 }), request);
  const [response] = await Promise.all([answer, sent]);
  const body = Buffer.concat(await response.toArray()).toString();
  if (response.statusCode !== 202) throw new Error(`the upload was refused: ${body}`);
  return (JSON.parse(body) as Batch).id;
}
