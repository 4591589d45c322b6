/** Tables show all that they have, on a desk, on a tablet and on a phone. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithBrowser } from '../../../tests/support/browser.ts';
import { openBrowserPipeline } from '../../../tests/support/browser-pipeline.ts';
import { expectAccessible, openSignedIn } from '../../../tests/support/console-page.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import type { Caller, Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { accountScopes } from '../../core/keys/keys.ts';

let pipeline: Pipeline;
let browser: Browser;
let caller: Caller;
let page: Page;
let wrong: string[];

const long = 'accountants and auditors of companies in the north of France, first wave';

describeWithBrowser('the tables of the console', () => {
  beforeAll(async () => {
    ({ pipeline, browser } = await openBrowserPipeline());
    await importGraph(pipeline.sql, { persons: crowd(12) });
    const { accountId } = await pipeline.account(1_000);
    caller = await pipeline.keyOf(accountId, 'live', [...accountScopes]);
    await pipeline.sql`update api_keys set name = ${long} where id = ${caller.keyId}`;
    const { keyId: rotated } = await pipeline.keyOf(accountId, 'live');
    await pipeline.sql`
      update api_keys set expires_at = now() + interval '1 day' where id = ${rotated}`;
    const list = `email\n${crowd(12)
      .map(({ email }) => email)
      .join('\n')}\n`;
    await pipeline.enrich(caller, list, { operation: 'people.enrich', name: long });
    const headers = { 'Content-Type': 'application/json' };
    const filter = { name: long, filter: 'id=1-5000' };
    for (const [path, body] of [
      ['exports', filter],
      ['schedules', { ...filter, cron: '30 2 * * *' }],
    ] as const) {
      const made = await pipeline.call(caller, `/v1/${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      expect(made.ok).toBe(true);
    }
    for (const _ of [1, 2]) await pipeline.call(caller, '/v1/me');
    await pipeline.runUntilIdle();
    ({ page, wrong } = await openSignedIn(browser, pipeline.url, caller.key));
  }, 120_000);
  afterAll(() => pipeline.close());

  /** By how many pixels each table is wider than its place. */
  const hidden = () =>
    page.evaluate<number[]>(
      "[...document.querySelectorAll('.table')].map((one) => one.scrollWidth - one.clientWidth)",
    );

  test.for([
    ['batches', 'Lists'],
    ['exports', 'Exports'],
    ['schedules', 'Schedules, newest first'],
    ['keys', 'Keys, newest first'],
    ['credits', 'Credit activity, latest day first'],
  ] as const)('of /%s hide no column', async ([path, name]) => {
    await page.goto(`${pipeline.url}/#/${path}`);
    const table = page.getByRole('table', { name });
    await table.getByText(long).first().waitFor();
    expect(new Set(await hidden())).toEqual(new Set([0]));
    await expectAccessible(page);
    // A laptop and a tablet, a text of 125 % on a desk, and a phone.
    for (const width of [1100, 1024, 960, 768, 700, 390]) {
      await page.setViewportSize({ width, height: 844 });
      expect([width, ...new Set(await hidden())]).toEqual([width, 0]);
    }
    const cells = table.getByRole('cell').filter({ hasText: /\S/ });
    for (const cell of await cells.all()) {
      const box = await cell.boundingBox();
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(390);
    }
    await page.setViewportSize({ width: 1280, height: 860 });
    expect(wrong).toEqual([]);
  });

  test('of deliveries show why one failed, and what it held', async () => {
    const made = await pipeline.call(caller, '/v1/webhooks', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ url: 'https://93.184.215.14/hook', events: ['batch.completed'] }),
    });
    const { id } = (await made.json()) as { id: string };
    const error = 'the certificate is not valid for its address: ERR_TLS_CERT_ALTNAME_INVALID';
    const failed = {
      id: '00000000-0000-7000-8000-000000000001',
      type: 'schedule.skipped',
      state: 'failed',
      attempts: 8,
      response_status: null,
      error,
      created_at: '2026-11-26T14:31:26.000Z',
      next_attempt_at: null,
      payload: { id: 'd69fec07-fd45-4dfa-8232-1837f02507bc', type: 'schedule.skipped' },
    };
    await page.route('**/deliveries', (route) =>
      route.fulfill({ json: { data: [failed], next_cursor: null } }),
    );
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 860 });
      await page.goto(`${pipeline.url}/#/webhooks/${id}`);
      await page.getByText('Show the payload of schedule.skipped').click();
      await page.getByText(error).waitFor();
      expect(await hidden()).toEqual([0]);
      await page.goto(`${pipeline.url}/#/webhooks`);
      await page.getByRole('heading', { name: 'Webhooks' }).waitFor();
    }
    await page.unroute('**/deliveries');
    await page.setViewportSize({ width: 1280, height: 860 });
    expect(wrong).toEqual([]);
  });

  test('show how much of its day a key has used', async () => {
    await page.goto(`${pipeline.url}/#/keys`);
    const row = page.getByRole('row').filter({ hasText: long });
    const cell = await row
      .getByText(/^of [\d,.]+$/)
      .locator('..')
      .textContent();
    expect(Number(cell?.replace(/of.*/, ''))).toBeGreaterThan(1);
  });
});
