/**
 * Traces: one upload is one trace, from its request to its last chunk, whatever else is processed meanwhile.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTracing, stopTracing, traced } from '../src/core/tracing.ts';
import { runDueSchedules } from '../src/jobs/schedule/run-due.ts';
import { importGraph } from './support/graph.ts';
import { type Caller, openPipeline } from './support/pipeline.ts';
import { describeWithRedis, startRedis, type TestRedis } from './support/redis-server.ts';
import { crowd } from './support/small-graph.ts';
import { readSourceFiles } from './support/source-files.ts';
import {
  attributeOf,
  type ReceivedSpan,
  startTraceReceiver,
  type TraceReceiver,
} from './support/trace-receiver.ts';
import { openWorkingPipeline, type WorkingPipeline } from './support/working-pipeline.ts';

const CANARY = 'zq7canary';
const phases = [
  'claim',
  'read',
  'look_up',
  'fetch',
  'compare',
  'reserve',
  'render',
  'write',
  'commit',
];

/** Runs two concurrent lists, one without a trace, an export and a schedule; collects all received spans. */
interface Run {
  spans: ReceivedSpan[];
  sent: string;
  lists: string[];
  untraced: string;
  exported: string;
  scheduled: string;
}

async function runTraced(environment: Record<string, string>): Promise<Run> {
  const receiver: TraceReceiver = await startTraceReceiver();
  await startTracing({ otlpEndpoint: receiver.endpoint, traceRatio: 1 }, 'test');
  const pipeline: WorkingPipeline = await openWorkingPipeline({ CHUNK_ROWS: '4', ...environment });
  const persons = [...crowd(9), { id: 1, email: `${CANARY}@home.example` }];
  await importGraph(pipeline.sql, { persons });
  const list = `email\n${persons.map(({ email }) => `${email}\n`).join('')}`;
  const callers: Caller[] = [await pipeline.account(100), await pipeline.account(100)];
  const upload = (caller: Caller) => pipeline.upload(caller, list, { operation: 'people.enrich' });
  const lists = await Promise.all(callers.map(upload));
  for (const [place, id] of lists.entries()) await pipeline.finished(callers[place] as Caller, id);
  const [caller] = callers as [Caller];
  const untraced = await runUntraced(pipeline, caller, list);
  const exported = await pipeline.makeExport(caller, { filter: 'id=1001-1009', fields: ['id'] });
  await endOf(pipeline, exported);
  const scheduled = await runSchedule(pipeline, caller);
  await endOf(pipeline, scheduled);
  await pipeline.call(caller, `/v1/people/enrich?email=${CANARY}%40home.example`);
  const failing = traced('failing', {}, () => Promise.reject(new Error(CANARY)));
  await expect(failing).rejects.toThrow(CANARY);
  await pipeline.close();
  await stopTracing();
  receiver.close();
  return { spans: receiver.spans, sent: receiver.sent(), lists, untraced, exported, scheduled };
}

/** A list that was uploaded before tracing was enabled and starts after. */
async function runUntraced(pipeline: WorkingPipeline, caller: Caller, list: string) {
  const options = { operation: 'people.enrich', hold: 'true' };
  const id = await pipeline.upload(caller, list, options);
  while ((await pipeline.batch(caller, id)).state !== 'ready');
  await pipeline.sql`update batches set trace_parent = null where id = ${id}`;
  await pipeline.call(caller, `/v1/batches/${id}/start`, { method: 'POST' });
  await endOf(pipeline, id);
  return id;
}

async function endOf({ sql }: WorkingPipeline, id: string): Promise<void> {
  for (;;) {
    const [batch] = await sql`select state from batches where id = ${id}`;
    if (batch?.state === 'completed') return;
  }
}

async function runSchedule(pipeline: WorkingPipeline, caller: Caller): Promise<string> {
  const body = JSON.stringify({ cron: '0 2 * * *', filter: 'id=1001-1009', fields: ['id'] });
  const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body };
  await pipeline.call(caller, '/v1/schedules', init);
  await pipeline.sql`update schedules set next_run_at = now() - interval '1 minute'`;
  const [started] = await runDueSchedules(pipeline.context);
  return String(started);
}

function testTraces(open: () => Promise<Record<string, string>>): void {
  let run: Run;
  beforeAll(async () => {
    run = await runTraced(await open());
  });

  /** The spans of the trace that contains the batch's split. */
  const traceOf = (id: string) => {
    const about = run.spans.filter((span) => attributeOf(span, 'enrich.batch') === id);
    expect(new Set(about.map(({ traceId }) => traceId)).size, id).toBe(1);
    return run.spans.filter(({ traceId }) => traceId === about[0]?.traceId);
  };
  const named = (spans: readonly ReceivedSpan[], name: string) =>
    spans.filter((span) => span.name === name);

  /** Expects the batch's chunks with all their phases, in whatever job, and its end. */
  const expectWork = (spans: readonly ReceivedSpan[], id: string, numbers: number[]) => {
    const chunks = named(spans, 'chunk');
    expect([...new Set(chunks.map((span) => attributeOf(span, 'enrich.batch')))]).toEqual([id]);
    expect(chunks.map((span) => Number(attributeOf(span, 'enrich.chunk'))).sort()).toEqual(numbers);
    for (const { spanId } of chunks) {
      const inside = spans.filter((span) => span.parentSpanId === spanId).map(({ name }) => name);
      // The ids of an export were looked up before.
      const expected = phases.filter((phase) => phase !== 'look_up' || numbers.length > 1);
      expect(inside.filter((name) => phases.includes(name)).sort()).toEqual(expected.sort());
    }
    const queue = numbers.length > 1 ? 'batches' : 'exports';
    expect(named(spans, `process ${queue}`)).toHaveLength(1);
    expect(named(spans, 'finish')).toHaveLength(1);
  };

  /** Expects every span to have a parent in the trace, up to the first. */
  const expectWhole = (spans: readonly ReceivedSpan[], first: string) => {
    const ids = new Set(spans.map(({ spanId }) => spanId));
    const loose = spans.filter(({ parentSpanId = '' }) => !ids.has(parentSpanId));
    expect(loose.map(({ name }) => name)).toEqual([first]);
  };

  test('a list is one trace from its upload to its last chunk, without other lists', () => {
    for (const id of run.lists) {
      const spans = traceOf(id);
      expectWhole(spans, 'POST /v1/batches');
      expectWork(spans, id, [1, 2, 3]);
      const [request] = named(spans, 'POST /v1/batches') as [ReceivedSpan];
      expect(attributeOf(request, 'http.response.status_code')).toBe(202);
      expect(attributeOf(request, 'enrich.request_id')).toMatch(/^[\da-f-]{36}$/);
      for (const { startTimeUnixNano: start, endTimeUnixNano: end } of spans) {
        expect(BigInt(end) >= BigInt(start)).toBe(true);
        expect(BigInt(start) >= BigInt(request.startTimeUnixNano)).toBe(true);
      }
    }
  });

  test('an export and a slot of a schedule are one trace each', () => {
    expectWhole(traceOf(run.exported), 'POST /v1/exports');
    expectWork(traceOf(run.exported), run.exported, [1]);
    expectWhole(traceOf(run.scheduled), 'schedule');
    expectWork(traceOf(run.scheduled), run.scheduled, [1]);
  });

  test('a list that keeps no trace is traced only until its split', () => {
    const about = run.spans.filter((span) => attributeOf(span, 'enrich.batch') === run.untraced);
    expect(about.map(({ name }) => name)).not.toContain('chunk');
    expect(about.map(({ name }) => name)).not.toContain('finish');
  });

  test('traces contain no customer input, and none is empty', () => {
    expect(named(run.spans, 'GET /v1/people/enrich')).toHaveLength(1);
    expect(named(run.spans, 'failing')).toHaveLength(1);
    expect(run.sent).not.toMatch(new RegExp(`${CANARY}|@list\\.example|svc_(live|test)_`));
    const first = run.spans.filter(({ parentSpanId = '' }) => parentSpanId === '');
    // 2 is a request, 5 a job: BullMQ's work between jobs starts no trace.
    expect(first.filter(({ kind }) => kind !== 2 && kind !== 5)).toEqual([]);
  });
}

describe('on the queue in Postgres', () => {
  testTraces(async () => ({}));
});

describeWithRedis('on the queue in Redis', () => {
  let server: TestRedis;
  afterAll(() => server?.[Symbol.asyncDispose]());
  testTraces(async () => {
    server = await startRedis();
    return { REDIS_URL: server.url };
  });
});

test('without an endpoint no tracing code is loaded, and no trace is stored', async () => {
  await startTracing({ otlpEndpoint: undefined, traceRatio: 1 }, 'test');
  const pipeline = await openPipeline();
  const caller = await pipeline.account(10);
  const id = await pipeline.upload(caller, 'email\np1@list.example\n', {
    operation: 'people.enrich',
  });
  const kept = await pipeline.sql`select trace_parent from batches where id = ${id}`;
  expect(kept).toEqual([{ traceParent: null }]);
  await pipeline.close();

  const loads =
    /^(?:import (?!type\b).*|\}) from '(?:@opentelemetry\/.+|bullmq-otel|.+\/open-telemetry\.ts)'/m;
  const loading = readSourceFiles().filter(
    ({ path, text }) => /^(src|workers|infra)\//.test(path) && loads.test(text),
  );
  expect(loading.map(({ path }) => path)).toEqual(['src/core/open-telemetry.ts']);
});
