import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { lockWallet } from '../../core/credits/credits.sql.ts';
import { changeOwnedDays } from '../../core/credits/owned.ts';
import { inTransaction } from '../../core/db/client.ts';
import { must } from '../../core/lib/assert.ts';
import { suppress } from '../../core/suppression/suppress.ts';
import { audit } from '../../jobs/audit/audit.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline();
  const names = ['Nordlicht Optik GmbH', 'Bergkristall AG', 'Opitz and Sons', 'Silberfaden Ltd'];
  const others = Array.from({ length: 60 }, (_, n) => {
    return { id: n + 1, name: `Given${n}`, surname: `Family${n}`, companyId: n < 40 ? 13 : 10 };
  });
  await importGraph(pipeline.sql, {
    companies: names.map((name, n) => ({ id: 10 + n, name })),
    persons: [
      ...others,
      { id: 100, name: 'Jorun', surname: 'Vale', companyId: 13, email: 'j@out.example' },
    ],
  });
});
afterAll(() => pipeline.close());

test('a query is not answered when its person opts out while it waits for its charge', async () => {
  const { accountId } = await pipeline.account(5);
  // Only then are people matched: a client asks for each of them again and again.
  await changeOwnedDays(pipeline.sql, accountId, 30);
  const { key } = await pipeline.keyOf(accountId, 'live', ['reconcile']);
  const properties = [{ pid: 'company_name', v: 'Silberfaden Ltd' }];
  const queries = JSON.stringify({ q: { query: 'Jorun Vale', type: 'person', properties } });
  const path = `/v1/reconcile/${key}?queries=${encodeURIComponent(queries)}`;
  let asked: Promise<Response> | undefined;
  await inTransaction(pipeline.sql, async (tx) => {
    await lockWallet(tx, accountId);
    asked = pipeline.call(null, path);
    await pipeline.untilBlocked(1);
    await suppress(pipeline.sql, 'j@out.example');
    const now = performance.now;
    vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + 1_000);
  });
  const response = must(await asked, 'response');
  vi.restoreAllMocks();
  await expectProblem(response, { status: 503, code: 'result_changing' });
  const [wallet] = await pipeline.sql`select balance from wallets where account_id = ${accountId}`;
  expect(wallet).toMatchObject({ balance: 5 });
  expect(await audit(pipeline.sql)).toMatchObject({ ok: true });
});
