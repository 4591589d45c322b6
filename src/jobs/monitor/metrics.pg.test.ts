import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { type Scrape, scrapeHere } from '../../../tests/support/scrape.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { inTransaction, watchPool } from '../../core/db/client.ts';
import { outcomeStatuses } from '../../core/enrich/outcomes.ts';
import { startHeartbeat } from './heartbeat.ts';
import { type Beat, insertAudit, insertBeat, readServiceState } from './monitor.sql.ts';
import { watchService } from './watch-service.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '4' });
  const persons = crowd(20).map((person) => ({ ...person, mobile: '+447700900123' }));
  await importGraph(pipeline.sql, { persons });
  watchPool(pipeline.context.sql);
  watchService(pipeline.context, 0);
});
afterAll(() => pipeline.close());

const people = (...numbers: number[]) =>
  `email\n${numbers.map((number) => `p${number}@list.example\n`).join('')}`;
const numbers = Array.from({ length: 10 }, (_, index) => index + 1);
const list = `${people(...numbers)}nobody@list.example\nno address\n`;

beforeEach(async () => {
  caller = await pipeline.account(1_000);
});
/** The growth of a metric between two readings. */
function growth(before: Scrape, after: Scrape, name: string, labels: Record<string, string> = {}) {
  return (after.sum(name, labels) ?? 0) - (before.sum(name, labels) ?? 0);
}

interface LedgerSum {
  channel: string;
  operation: string;
  credits: number;
  units: number;
}

/** The account's charges in the ledger, by the channel in their references. */
async function ledgerOf({ accountId }: Caller): Promise<LedgerSum[]> {
  return pipeline.sql<LedgerSum[]>`
    select case when b.kind is null then split_part(reference, ':', 1) else b.kind end as channel,
      l.operation, -sum(amount)::bigint as credits, sum(units)::bigint as units
    from ledger_entries l left join batches b on b.id = l.batch_id
    where l.account_id = ${accountId} and l.kind = 'charge' group by 1, 2 order by 1, 2`;
}

describe('counters of work', () => {
  test('grow by exactly the rows of a list and the credits of the ledger', async () => {
    const before = await scrapeHere();
    const id = await pipeline.enrich(caller, list, { operation: 'people.mobile' });
    const second = await pipeline.enrich(caller, list, { operation: 'people.enrich' });
    const after = await scrapeHere();

    for (const [batchId, operation] of [
      [id, 'people.mobile'],
      [second, 'people.enrich'],
    ] as const) {
      const { rows } = await pipeline.batch(caller, batchId);
      expect(rows.processed).toBe(12);
      for (const outcome of outcomeStatuses) {
        const of = { channel: 'list', operation, outcome, mode: 'live' };
        expect(growth(before, after, 'enrich_rows_total', of), outcome).toBe(rows[outcome]);
      }
    }
    const charged = await ledgerOf(caller);
    expect(charged.map(({ credits }) => credits)).toEqual([10, 80]);
    for (const { operation, credits } of charged) {
      expect(growth(before, after, 'enrich_credits_total', { channel: 'list', operation })).toBe(
        credits,
      );
    }
    const all = charged.reduce((sum, { credits }) => sum + credits, 0);
    expect(growth(before, after, 'enrich_credits_total')).toBe(all);
    expect(growth(before, after, 'enrich_parts_total', { end: 'committed' })).toBe(6);
    expect(growth(before, after, 'enrich_chunk_seconds_count', { kind: 'list' })).toBe(6);
    for (const phase of ['claim', 'read', 'look_up', 'fetch', 'reserve', 'write', 'commit']) {
      const count = growth(before, after, 'enrich_chunk_phase_seconds_count', { phase });
      expect(count, phase).toBe(6);
    }
    const put = { operation: 'put', end: 'done' };
    expect(growth(before, after, 'enrich_storage_seconds_count', put)).toBeGreaterThanOrEqual(6);
    expect(growth(before, after, 'enrich_transaction_wait_seconds_count')).toBeGreaterThan(0);
    expect(after.sum('enrich_transactions_open')).toBe(0);
  });

  test('grow with single calls, searches and exports as the ledger does', async () => {
    const before = await scrapeHere();
    const call = (path: string, headers = {}) => pipeline.call(caller, path, { headers });
    await call('/v1/people/enrich?email=p1%40list.example');
    await call('/v1/people/enrich?email=nobody%40list.example');
    const once = { 'Idempotency-Key': 'once' };
    await call('/v1/people/enrich?email=p2%40list.example', once);
    await call('/v1/people/enrich?email=p2%40list.example', once);
    const filter = 'id=1001-1005';
    const search = await call(`/personsearch/?${filter}`);
    expect((await search.json()) as unknown[]).toHaveLength(5);
    await pipeline.makeExport(caller, { filter, fields: ['id'] });
    await pipeline.runUntilIdle();
    const after = await scrapeHere();

    expect(await ledgerOf(caller)).toEqual([
      { channel: 'call', operation: 'people.enrich', credits: 2, units: 2 },
      { channel: 'export', operation: 'people.search', credits: 5, units: 5 },
      { channel: 'search', operation: 'people.search', credits: 5, units: 5 },
    ]);
    for (const { channel, operation, credits, units } of await ledgerOf(caller)) {
      const rows = { channel, operation, outcome: 'matched', mode: 'live' };
      expect(growth(before, after, 'enrich_credits_total', { channel, operation })).toBe(credits);
      expect(growth(before, after, 'enrich_rows_total', rows)).toBe(units);
    }
    const missed = { channel: 'call', outcome: 'no_match' };
    expect(growth(before, after, 'enrich_rows_total', missed)).toBe(1);
  });

  test('of test keys are labelled as such, and charge nothing', async () => {
    const tester = await pipeline.keyOf(caller.accountId, 'test');
    const before = await scrapeHere();
    await pipeline.enrich(tester, list, { operation: 'people.enrich' });
    const after = await scrapeHere();
    expect(growth(before, after, 'enrich_rows_total', { mode: 'test' })).toBe(12);
    expect(growth(before, after, 'enrich_rows_total', { mode: 'live' })).toBe(0);
    expect(growth(before, after, 'enrich_credits_total')).toBe(0);
  });

  test('name the limit that refused', async () => {
    const { sql } = pipeline;
    const before = await scrapeHere();
    const poor = await pipeline.account(0);
    expect((await pipeline.call(poor, '/v1/people/enrich?email=p1%40list.example')).status).toBe(
      402,
    );
    const bounded = await pipeline.boundedAccount(100, 2);
    const bound = await pipeline.enrich(bounded, people(1, 2, 3), { operation: 'people.enrich' });
    await sql`update api_keys set requests_per_minute = 1, rows_per_minute = 1 where id = ${caller.keyId}`;
    const me = '/v1/people/enrich?email=p1%40list.example';
    expect((await pipeline.call(caller, me)).status).toBe(200);
    expect((await pipeline.call(caller, me)).status).toBe(429);
    await sql`update api_keys set requests_per_day = 1 where id = ${caller.keyId}`;
    expect((await pipeline.call(caller, me)).status).toBe(429);
    await pipeline.enrich(caller, people(1, 2, 3, 4, 5), { operation: 'people.enrich' });
    const after = await scrapeHere();
    const refused = (bucket: string) => growth(before, after, 'enrich_refusals_total', { bucket });
    expect(['wallet', 'key_budget', 'minute', 'day', 'rows', 'other'].map(refused)).toEqual([
      1, 1, 1, 1, 1, 0,
    ]);

    await pipeline.call(bounded, `/v1/batches/${bound}/cancel`, { method: 'POST' });
    await sql`update api_keys set rows_per_minute = null where id = ${caller.keyId}`;
    await pipeline.passAnHour();
    await pipeline.sweep();
    await pipeline.runUntilIdle();
  });

  test('of requests name the route, never the input', async () => {
    const before = await scrapeHere();
    await pipeline.call(caller, '/v1/batches/0192f0f0-0000-7000-8000-000000000000');
    await pipeline.call(caller, '/somewhere/p1@list.example');
    await pipeline.call(null, '/v1/me');
    const after = await scrapeHere();
    const of = (labels: Record<string, string>) =>
      growth(before, after, 'enrich_http_request_seconds_count', labels);
    expect(of({ method: 'GET', route: '/v1/batches/:id', status: '4xx' })).toBe(1);
    expect(of({ method: 'any', route: 'none', status: '4xx' })).toBe(1);
    expect(of({ method: 'GET', route: '/v1/me', status: '4xx' })).toBe(1);
  });
});

describe('gauges of the state of Postgres and the queue', () => {
  test('report waiting and held work, and its age', async () => {
    const { sql, context, queues } = pipeline;
    const id = await pipeline.upload(caller, list, { operation: 'people.enrich' });
    await queues.runNext(context, 'split-batch');
    await queues.runNext(context, 'run-chunk');
    await sql`update batches set state_since = now() - interval '100 seconds' where id = ${id}`;
    await sql`update parts set committed_at = now() - interval '90 seconds' where batch_id = ${id}`;
    await sql`update chunks set dispatched_at = now() - interval '80 seconds' where batch_id = ${id}
      and state = 'dispatched'`;
    const running = await scrapeHere();
    expect(running.sum('enrich_database_up')).toBe(1);
    expect(running.sum('enrich_queue_up')).toBe(1);
    expect(running.sum('enrich_batches', { state: 'running' })).toBe(1);
    expect(running.sum('enrich_chunks', { state: 'dispatched' })).toBe(2);
    expect(running.sum('enrich_jobs', { queue: 'chunks', state: 'waiting' })).toBe(2);
    const waited = running.sum('enrich_chunk_oldest_waiting_seconds');
    expect(waited).toBeGreaterThanOrEqual(80);
    expect(waited).toBeLessThan(90);
    const stood = running.sum('enrich_batch_oldest_progress_seconds');
    expect(stood).toBeGreaterThanOrEqual(90);
    expect(stood).toBeLessThan(100);

    await pipeline.call(caller, `/v1/batches/${id}/pause`, { method: 'POST' });
    await sql`update chunks set state = 'pending', dispatched_at = null where state = 'dispatched'`;
    const paused = await scrapeHere();
    expect(paused.sum('enrich_batches', { state: 'paused', reason: 'user' })).toBe(1);
    expect(paused.sum('enrich_chunks', { state: 'held' })).toBe(2);
    expect(paused.sum('enrich_chunks', { state: 'waiting' })).toBe(0);
    expect(paused.sum('enrich_chunk_oldest_waiting_seconds')).toBe(0);
    expect(paused.sum('enrich_batch_oldest_progress_seconds')).toBe(0);

    await pipeline.call(caller, `/v1/batches/${id}/resume`, { method: 'POST' });
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'completed' });
  });

  test('report open reservations, the last audits, and live processes', async () => {
    const { sql, context } = pipeline;
    // One that died before the clock was set back.
    await sql`
      insert into processes (id, kind, host, version, started_at, seen_at, leases_reclaimed)
      values (gen_random_uuid(), 'worker', 'ahead', '0.0.0', now(), now() + interval '1 hour', 0)`;
    const api = startHeartbeat(context, 'api');
    const worker = startHeartbeat(context, 'worker');
    await vi.waitUntil(async () => (await sql`select from processes`).length === 2);
    await sql`
      insert into processes select gen_random_uuid(), 'worker', 'dead', version, started_at,
        now() - interval '1 minute', 0 from processes limit 1`;
    await insertAudit(sql, { deep: false, violations: 3, failed: ['a', 'b'] });
    await insertAudit(sql, { deep: false, violations: 1, failed: ['a'] });
    const scrape = await scrapeHere();
    expect(scrape.sum('enrich_processes', { kind: 'api' })).toBe(1);
    expect(scrape.sum('enrich_processes', { kind: 'worker' })).toBe(1);
    expect(scrape.sum('enrich_audit_violations', { depth: 'plain' })).toBe(1);
    expect(scrape.sum('enrich_audit_violations', { depth: 'deep' })).toBeNull();
    expect(scrape.sum('enrich_audit_age_seconds', { depth: 'plain' })).toBeLessThan(60);
    expect(scrape.sum('enrich_reservations_open')).toBe(0);
    expect(scrape.sum('enrich_database_bytes')).toBeGreaterThan(1_000_000);
    expect(scrape.sum('enrich_database_connections')).toBeGreaterThan(0);
    expect(scrape.sum('enrich_pool_wait_seconds')).toBeLessThan(2);
    await api.stop();
    await worker.stop();
    expect(await sql`select host from processes`).toEqual([{ host: 'dead' }]);
  });

  test('count processes that report at the same moment after the clock was set back', async () => {
    const { sql } = pipeline;
    const beat = (host: string): Beat => ({
      ...{ id: crypto.randomUUID(), kind: 'worker', host, version: '0.0.0' },
      ...{ startedAt: new Date(), leasesReclaimed: 0, localCopy: null },
    });
    const ahead = beat('ahead');
    await insertBeat(sql, ahead);
    await sql`update processes set seen_at = now() + interval '1 hour' where id = ${ahead.id}`;
    await inTransaction(sql, async (tx) => {
      await insertBeat(tx, ahead);
      await insertBeat(sql, beat('here'));
    });
    const hosts =
      await sql`select host from processes where host in ('ahead', 'here') order by host`;
    expect(hosts).toEqual([{ host: 'ahead' }, { host: 'here' }]);
    await sql`delete from processes where host in ('ahead', 'here')`;
  });

  test('the delivery that has been due longest is found without reading the backlogs of webhooks', async () => {
    const { sql } = pipeline;
    for (const [enabled, minutes] of [
      [true, 30],
      [false, 90],
    ] as const) {
      await sql`
        with w as (
          insert into webhooks (id, account_id, live, url, events, credits_low_threshold, enabled, secret)
          values (gen_random_uuid(), ${caller.accountId}, true, 'https://hooks.example/', '{batch.paused}', 1,
            ${enabled}, ${Buffer.alloc(32)})
          returning id)
        insert into webhook_deliveries (webhook_id, event_id, type, payload, due_at)
        select id, gen_random_uuid(), 'batch.paused', '{}', now() - make_interval(mins => ${minutes}) + n * interval '1 second'
        from w, generate_series(0, 999) n`;
    }
    await sql`analyze webhooks, webhook_deliveries`;
    const [state, read] = await inTransaction(sql, async (tx) => [
      await readServiceState(tx),
      await tx`
        select (seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_user_tables
        where relname = 'webhook_deliveries'`,
    ]);
    expect(Math.floor((state?.oldestDeliverySeconds ?? 0) / 60)).toBe(30);
    expect(read).toEqual([{ rows: 1 }]);
    await sql`delete from webhooks where account_id = ${caller.accountId}`;
  });

  test('have no value when the database does not respond, and report that', async () => {
    const { sql } = pipeline;
    await sql`alter table schedules rename to gone`;
    const scrape = await scrapeHere();
    await sql`alter table gone rename to schedules`;
    expect(scrape.sum('enrich_database_up')).toBe(0);
    expect(scrape.sum('enrich_queue_up')).toBe(1);
    expect(scrape.sum('enrich_chunk_oldest_waiting_seconds')).toBeNull();
    expect(scrape.sum('enrich_batches')).toBeNull();
  });
});

test('no label names an account, a key, a list or a person', async () => {
  const { text, samples } = await scrapeHere();
  expect(text).not.toMatch(/[\da-f]{8}-[\da-f]{4}-|svc_(live|test)_|@list\.example/);
  const labels = new Set(samples.flatMap((sample) => Object.keys(sample.labels)));
  expect(labels).not.toContain('account');
  // Series grow with the code, not with the data.
  const ours = samples.filter(({ name }) => name.startsWith('enrich_'));
  expect(ours.length).toBeGreaterThan(100);
  expect(ours.length).toBeLessThan(2_000);
});
