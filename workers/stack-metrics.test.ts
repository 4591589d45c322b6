import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { metrics } from '../src/core/metrics.ts';
import { readScrape } from '../tests/support/scrape.ts';
import { mergeExpositions, serveStackMetrics } from './stack-metrics.ts';

const worker = (rows: number) =>
  `# HELP enrich_rows_total Rows.
# TYPE enrich_rows_total counter
enrich_rows_total{outcome="matched",process="worker"} ${rows}

# HELP up_only Nothing else.
# TYPE up_only gauge
up_only{process="worker"} 1
`;

test('all samples of a metric stand together, below one HELP and TYPE', () => {
  const text = mergeExpositions([worker(1), worker(2)]);
  expect(text.match(/# TYPE enrich_rows_total/g)).toHaveLength(1);
  expect(text).toContain('} 1\nenrich_rows_total{outcome="matched",process="worker"} 2\n');
  expect(readScrape(text).sum('enrich_rows_total')).toBe(3);
});

test('processes are told apart, and one that does not answer is told', async () => {
  const answers = createServer((_request, response) => response.end(worker(7)));
  await new Promise<void>((listening) => answers.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(answers.address() as AddressInfo).port}/metrics`;
  const sources = [
    { kind: 'worker', number: 1, url },
    { kind: 'worker', number: 2, url },
    { kind: 'worker', number: 3, url: 'http://127.0.0.1:1/metrics' },
    { kind: 'api', number: 1, url: null },
  ] as const;
  const stack = await serveStackMetrics({ metricsHost: '127.0.0.1', metricsPort: 0 }, sources);
  const scrape = readScrape(await (await fetch(stack.url)).text());
  expect(scrape.sum('enrich_rows_total', { process: 'worker', number: '2' })).toBe(7);
  expect(scrape.sum('enrich_rows_total')).toBe(14);
  const isUp = (kind: string, number: string) => scrape.sum('enrich_process_up', { kind, number });
  expect([isUp('worker', '1'), isUp('worker', '3'), isUp('api', '1')]).toEqual([1, 0, 0]);
  expect(scrape.sum('process_start_time_seconds', { process: 'up' })).toBeGreaterThan(0);
  stack.server.close();
  answers.close();
});

test('a hundred requests at once read each process once', async () => {
  // Those of the server before.
  metrics.clear();
  const requests = 100;
  let reads = 0;
  let taken = 0;
  let respond = () => {};
  const source = createServer((_request, response) => {
    reads += 1;
    respond = () => response.end(worker(7));
    if (taken >= requests) respond();
  });
  await new Promise<void>((listening) => source.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(source.address() as AddressInfo).port}/metrics`;
  const stack = await serveStackMetrics({ metricsHost: '127.0.0.1', metricsPort: 0 }, [
    { kind: 'worker', number: 1, url },
  ]);
  stack.server.on('request', () => {
    taken += 1;
    if (taken >= requests) respond();
  });
  const texts = await Promise.all(
    Array.from({ length: requests }, async () => (await fetch(stack.url)).text()),
  );
  expect(texts.map((text) => readScrape(text).sum('enrich_rows_total'))).toEqual(
    Array.from({ length: requests }, () => 7),
  );
  expect(reads).toBe(1);
  expect(readScrape(await (await fetch(stack.url)).text()).sum('enrich_rows_total')).toBe(7);
  expect(reads).toBe(2);
  stack.server.close();
  source.close();
});
