import { Writable } from 'node:stream';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { serveWithLimits } from '../../tests/support/raw-http.ts';
import { metrics } from '../core/metrics.ts';

/** In every identifier that this test sends: it may come out nowhere but in answers and results. */
const CANARY = 'zq7canary';
const PHONE = '7700900777';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  caller = await pipeline.account(100);
  await importGraph(pipeline.sql, {
    persons: [
      { id: 1, email: `${CANARY}@home.example`, twitter: CANARY, mobile: `+44${PHONE}` },
      { id: 2, phone: `+44${PHONE}` },
    ],
    companies: [{ id: 1, name: `${CANARY} Ltd`, domain: `${CANARY}.example` }],
  });
});
afterAll(() => pipeline.close());

const paths = [
  `/v1/people/enrich?email=${CANARY}%40home.example`,
  `/v1/people/enrich?email=${CANARY}%40nobody.example`,
  `/v1/people/enrich?email=${CANARY}`,
  `/v1/people/enrich?phone=%2B44${PHONE}`,
  `/v1/people/enrich?twitter=${CANARY}&email=${CANARY}%40home.example`,
  `/v1/people/enrich?${CANARY}=1`,
  `/v1/people/mobile?email=${CANARY}%40home.example`,
  `/v1/companies/enrich?domain=${CANARY}.example`,
  `/v1/companies/enrich?name=${CANARY}+Ltd`,
  `/v1/lookups/locations?q=${CANARY}`,
  `/v1/batches/${CANARY}`,
  `/${CANARY}`,
];

test('no identifier reaches a log line, a job or a metric, not even when everything fails', async () => {
  let logged = '';
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logged += chunk;
      done();
    },
  });
  const log = pino({ level: 'trace' }, sink);
  const context = { ...pipeline.context, log };
  const server = await serveWithLimits(context, {});
  const url = `http://127.0.0.1:${server.port}`;
  const headers = { Authorization: `Bearer ${caller.key}` };
  const callAll = async () => {
    const statuses: number[] = [];
    for (const path of paths) statuses.push((await fetch(url + path, { headers })).status);
    return statuses;
  };
  const upload = (name: string) =>
    fetch(`${url}/v1/batches?operation=people.enrich`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'text/csv' },
      body: `email,phone\n${name}@home.example,+44${PHONE}\n"${name},broken\n${name},\n`,
    });

  expect((await callAll()).some((status) => status === 200)).toBe(true);
  expect((await upload(CANARY)).status).toBe(202);
  await pipeline.queues.runUntilIdle(context);

  // Now every look-up fails, as a call and as a batch.
  await pipeline.sql`alter table person_records rename to gone_records`;
  await pipeline.sql`alter table company_identifiers rename to gone_identifiers`;
  const failed = await callAll();
  expect(failed).toContain(500);
  expect((await upload(CANARY)).status).toBe(202);
  await pipeline.queues.runUntilIdle(context).catch((error) => log.error({ err: error }, 'job'));
  server.close();

  expect(logged).toContain('"level":50');
  const jobs = JSON.stringify(pipeline.queues.history);
  expect(pipeline.queues.history.length).toBeGreaterThan(2);
  for (const text of [logged, jobs, await metrics.metrics()]) {
    expect(text).not.toContain(CANARY);
    expect(text).not.toContain(PHONE);
    expect(text).not.toContain(caller.key);
  }
});
