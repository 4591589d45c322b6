import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';
import { smallGraph } from '../../tests/support/small-graph.ts';
import { listUsage, refundCredits } from '../core/credits/credits.ts';
import { inTransaction } from '../core/db/client.ts';
import { audit } from '../jobs/audit/audit.ts';

let pipeline: Pipeline;
let caller: Caller;
let admin: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  await importGraph(pipeline.sql, smallGraph);
  caller = await pipeline.account(100);
  admin = await pipeline.keyOf(caller.accountId, 'live', ['account']);
});
afterAll(() => pipeline.close());

describe('a refund', () => {
  test('gives back what a reference charged, once, and never more', async () => {
    await pipeline.call(caller, '/v1/people/mobile?email=ada%40acme.example');
    const [charge] = await pipeline.charges(caller);
    const { accountId } = caller;
    const reference = String(charge?.reference);
    const refund = (amount?: number) =>
      refundCredits(pipeline.sql, { accountId, reference, ...(amount ? { amount } : {}) });
    const stranger = await pipeline.account(100);
    const theirs = refundCredits(pipeline.sql, { accountId: stranger.accountId, reference });
    await expect(theirs).rejects.toMatchObject({ status: 404, code: 'not_found' });
    expect(await pipeline.wallet(caller)).toEqual({ balance: 92, reserved: 0 });
    await expect(refund(9)).rejects.toMatchObject({ status: 400, code: 'invalid_parameter' });
    expect(await refund(5)).toEqual({ balance: 97, refunded: 5 });
    expect(await refund(5)).toEqual({ balance: 97, refunded: 5 });
    expect(await refund()).toEqual({ balance: 97, refunded: 5 });
    await expect(refund(3)).rejects.toMatchObject({ status: 409, code: 'reference_reused' });
    for (const wrong of ['account:created', 'nothing', `refund:${reference}`]) {
      await expect(
        refundCredits(pipeline.sql, { accountId, reference: wrong }),
      ).rejects.toMatchObject({ status: 404 });
    }
    expect(await pipeline.wallet(stranger)).toEqual({ balance: 100, reserved: 0 });
    expect((await audit(pipeline.sql)).ok).toBe(true);
  });
});

describe('GET /v1/usage', () => {
  test.each(['from=0000-01-01&to=0000-02-01', 'to=0001-01-02', 'from=1969-12-31&to=1970-01-02'])(
    'refuses days that no ledger has: %s',
    async (query) => {
      const response = await pipeline.call(admin, `/v1/usage?${query}`);
      await expectProblem(response, { status: 400, code: 'invalid_parameter' });
    },
  );

  test('adds up by day, kind, operation and batch, page by page', async () => {
    const batch = await pipeline.enrich(caller, 'email\nada@acme.example\nbob@acme.example\n', {
      operation: 'people.enrich',
    });
    await pipeline.call(caller, '/v1/people/enrich?email=ada%40acme.example');
    const rows: Record<string, unknown>[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const after: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const response = await pipeline.call(admin, `/v1/usage?limit=2${after}`);
      const page = (await response.json()) as { data: typeof rows; next_cursor: string | null };
      rows.push(...page.data);
      cursor = page.next_cursor;
    }
    const day = new Date().toISOString().slice(0, 10);
    expect(rows).toHaveLength(5);
    expect(rows).toContainEqual({
      ...{ day, kind: 'charge', operation: 'people.enrich', key_id: caller.keyId, batch_id: batch },
      ...{ credits: -2, units: 2, lines: 1 },
    });
    expect(rows.reduce((sum, row) => sum + Number(row.credits), 0)).toBe(94);
  });

  test('has the rows of all days in order, over gaps, in pages of any length', async () => {
    const { accountId } = await pipeline.account(3);
    const reader = await pipeline.keyOf(accountId, 'live', ['account']);
    await pipeline.sql`
      insert into ledger_entries (account_id, reference, kind, amount, operation, units, batch_id, created_at)
      select ${accountId}, format('%s:%s:%s', ago, list, line), 'charge', -line, 'people.enrich', line,
        md5(list::text)::uuid, (current_date - ago + time '23:30') at time zone 'UTC'
      from unnest(array[1, 2, 3, 9, 40, 41, 300]) ago, generate_series(1, 3) list, generate_series(1, 2) line`;
    const from = new Date(Date.now() - 365 * 86_400_000).toISOString().slice(0, 10);
    const read = async (limit: number) => {
      const rows: { day: string; batch_id: string | null; credits: number; lines: number }[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
        const response = await pipeline.call(
          reader,
          `/v1/usage?from=${from}&limit=${limit}${query}`,
        );
        const page = (await response.json()) as { data: typeof rows; next_cursor: string | null };
        rows.push(...page.data);
        cursor = page.next_cursor;
      }
      return rows;
    };
    const rows = await read(1000);
    expect(rows).toHaveLength(1 + 7 * 3);
    const order = rows.map(({ day, batch_id }) => `${day} ${batch_id}`);
    expect(order).toEqual(order.toSorted().toReversed());
    for (const row of rows.slice(1)) expect(row).toMatchObject({ credits: -3, lines: 2 });
    for (const limit of [1, 4, 21, 22]) expect(await read(limit)).toEqual(rows);
  });

  test('refuses a cursor that names no key or list', async () => {
    const { accountId } = await pipeline.account(3);
    const reader = await pipeline.keyOf(accountId, 'live', ['account']);
    for (const place of ['2026-01-01|grant||x|', '2026-01-01|grant|||x', '2026-01-01|grant||']) {
      const cursor = Buffer.from(place).toString('base64url');
      const response = await pipeline.call(reader, `/v1/usage?cursor=${cursor}`);
      await expectProblem(response, { status: 400, code: 'invalid_parameter' });
    }
  });

  test('reads the lines of the days that a page needs, not all of the account', async () => {
    const { accountId } = await pipeline.account(3);
    await pipeline.sql`
      insert into ledger_entries (account_id, reference, kind, amount, created_at)
      select ${accountId}, format('old:%s', line), 'grant', 1, now() - interval '20 days'
      from generate_series(1, 500) line`;
    const today = new Date().toISOString().slice(0, 10);
    const range = { accountId, from: '2020-01-01', to: today, keyId: null, after: null };
    const readFor = (limit: number) =>
      inTransaction(pipeline.sql, async (tx) => {
        await tx`set local enable_seqscan = off`;
        const linesRead = async () => {
          const [read] = await tx<{ lines: number }[]>`
            select idx_tup_fetch::int as lines from pg_stat_xact_user_tables
            where relname = 'ledger_entries'`;
          return read?.lines ?? 0;
        };
        const before = await linesRead();
        const { length } = await listUsage(tx, { ...range, limit });
        return { length, lines: (await linesRead()) - before };
      });
    expect(await readFor(1)).toEqual({ length: 1, lines: 1 });
    expect(await readFor(2)).toEqual({ length: 2, lines: 501 });
  });

  test('tells the keys apart: a single call, a search, a list and a refund each count for theirs', async () => {
    const buyer = await pipeline.account(100);
    const other = await pipeline.keyOf(buyer.accountId, 'live', ['enrich', 'search', 'account']);
    await pipeline.call(buyer, '/v1/people/enrich?email=ada%40acme.example');
    await pipeline.enrich(buyer, 'email\nada@acme.example\n', { operation: 'people.enrich' });
    await pipeline.call(other, '/v1/people/mobile?email=ada%40acme.example');
    expect((await pipeline.call(other, '/personsearch/?id=1&limit=1')).status).toBe(200);
    const lines = await pipeline.charges(buyer);
    const mobile = lines.find(({ amount }) => amount === -8);
    await refundCredits(pipeline.sql, {
      accountId: buyer.accountId,
      reference: String(mobile?.reference),
    });
    const spentBy = async (keyId: string) => {
      const response = await pipeline.call(other, `/v1/usage?key_id=${keyId}`);
      const { data } = (await response.json()) as { data: { credits: number; key_id: string }[] };
      for (const row of data) expect(row.key_id).toBe(keyId);
      return data.reduce((sum, { credits }) => sum + credits, 0);
    };
    expect(await spentBy(buyer.keyId)).toBe(-2);
    expect(await spentBy(other.keyId)).toBe(-1);
  });

  test('shows no other account, and nothing to a test key', async () => {
    const stranger = await pipeline.account(3);
    const theirs = await pipeline.keyOf(stranger.accountId, 'live', ['account']);
    const tester = await pipeline.keyOf(caller.accountId, 'test', ['account']);
    const read = async (who: Caller) =>
      ((await (await pipeline.call(who, '/v1/usage')).json()) as { data: unknown[] }).data;
    expect(await read(theirs)).toMatchObject([{ kind: 'grant', credits: 3 }]);
    expect(await read(tester)).toEqual([]);
    const plain = await pipeline.call(caller, '/v1/usage');
    await expectProblem(plain, { status: 403, code: 'forbidden' });
  });

  test.each([
    ['from=2024-13-01', 'from'],
    ['to=today', 'to'],
    ['from=2024-02-01&to=2024-01-01', 'from'],
    ['from=2000-01-01&to=2024-01-01', 'from'],
    ['cursor=abc', 'cursor'],
    ['limit=1001', 'limit'],
    ['day=1', 'day'],
  ])('names what is wrong: %s', async (query, field) => {
    const response = await pipeline.call(admin, `/v1/usage?${query}`);
    const problem = await expectProblem(response, { status: 400, code: 'invalid_parameter' });
    expect(problem.errors[0]?.field).toBe(field);
  });
});

describe('the lines of the ledger', () => {
  interface Line {
    reference: string;
    credits: number;
    kind: string;
  }

  async function linesOf(who: Caller, query: string): Promise<Line[]> {
    const lines: Line[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const after: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const response = await pipeline.call(who, `/v1/usage/lines?${query}${after}`);
      expect(response.status).toBe(200);
      const page = (await response.json()) as { data: Line[]; next_cursor: string | null };
      lines.push(...page.data);
      cursor = page.next_cursor;
    }
    return lines;
  }

  test('are each there once, whatever the page, and add up to the balance', async () => {
    const buyer = await pipeline.account(100);
    const reader = await pipeline.keyOf(buyer.accountId, 'live', ['account']);
    const call = () => pipeline.call(buyer, '/v1/people/enrich?email=ada%40acme.example');
    await Promise.all(Array.from({ length: 7 }, call));
    const lines = await linesOf(reader, 'limit=3');
    expect(new Set(lines.map(({ reference }) => reference)).size).toBe(8);
    expect(lines).toHaveLength(8);
    expect(lines.reduce((sum, { credits }) => sum + credits, 0)).toBe(93);
    expect(await linesOf(reader, `key_id=${buyer.keyId}`)).toHaveLength(7);
    const [charge] = lines.filter(({ kind }) => kind === 'charge');
    const { reference = '' } = charge ?? {};
    const refund = { accountId: buyer.accountId, reference };
    expect(await refundCredits(pipeline.sql, refund)).toMatchObject({ balance: 94 });
  });

  test('have a cursor that tells nothing of other accounts, such as how many lines all have', async () => {
    const reader = await pipeline.keyOf(caller.accountId, 'live', ['account']);
    const response = await pipeline.call(reader, '/v1/usage/lines?limit=2');
    const page = (await response.json()) as { data: Line[]; next_cursor: string };
    const [, ...place] = Buffer.from(page.next_cursor, 'base64url').toString().split('|');
    expect(place.join('|')).toBe(page.data[1]?.reference);
  });

  test('come as a CSV file with the same lines', async () => {
    const reader = await pipeline.keyOf(caller.accountId, 'live', ['account']);
    const response = await pipeline.call(reader, '/v1/usage/lines.csv');
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const rows = parse(await response.text(), { columns: true }) as Record<string, string>[];
    const lines = await linesOf(reader, 'limit=1000');
    expect(rows.map(({ reference, credits }) => [reference, Number(credits)])).toEqual(
      lines.map(({ reference, credits }) => [reference, credits]),
    );
  });

  test('of another account are not shown, and none to a test key', async () => {
    const stranger = await pipeline.account(3);
    const theirs = await pipeline.keyOf(stranger.accountId, 'live', ['account']);
    expect(await linesOf(theirs, `key_id=${caller.keyId}`)).toEqual([]);
    expect(await linesOf(theirs, '')).toMatchObject([{ kind: 'grant', credits: 3 }]);
    const tester = await pipeline.keyOf(caller.accountId, 'test', ['account']);
    expect(await linesOf(tester, '')).toEqual([]);
    const file = await pipeline.call(tester, '/v1/usage/lines.csv');
    expect((await file.text()).split('\n')).toHaveLength(2);
  });

  const withNul = Buffer.from('2024-01-31 12:00:00+00|a\0').toString('base64url');

  test.each(['cursor=abc', `cursor=${withNul}`, 'key_id=1', 'from=2024-02-01&to=2024-01-01'])(
    'are refused for %s',
    async (query) => {
      const response = await pipeline.call(admin, `/v1/usage/lines?${query}`);
      await expectProblem(response, { status: 400, code: 'invalid_parameter' });
    },
  );
});
