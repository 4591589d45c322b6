/** The price of a list is kept, also when records came after it was counted. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithBrowser } from '../../../tests/support/browser.ts';
import { openBrowserPipeline } from '../../../tests/support/browser-pipeline.ts';
import { openSignedIn, runUntil } from '../../../tests/support/console-page.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import type { Caller, Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd } from '../../../tests/support/small-graph.ts';

const people = crowd(12);
const listOf = (persons: Record<string, unknown>[]) =>
  `Email\n${persons.map(({ email }) => email).join('\n')}\n`;

let pipeline: Pipeline;
let browser: Browser;
let caller: Caller;
let page: Page;
let wrong: string[];

describeWithBrowser('the price of a list', () => {
  const ids: string[] = [];
  /** A second attempt must not find the records of the first. */
  let attempts = 0;

  beforeAll(async () => {
    ({ pipeline, browser } = await openBrowserPipeline());
    caller = await pipeline.unmeteredAccount(1_000);
    ({ page, wrong } = await openSignedIn(browser, pipeline.url, caller.key));
    for (const name of ['first.csv', 'second.csv']) {
      const id = await pipeline.upload(caller, listOf(people), {
        operation: 'people.enrich',
        hold: 'true',
        name,
      });
      ids.push(id);
      await show(id, name, 'up to 9 credits');
    }
    await page.getByText('Fewer than 10 rows match, perhaps none').waitFor();
    await importGraph(pipeline.sql, { persons: people });
  }, 120_000);
  afterAll(() => pipeline.close());

  const priced = (price: string) => page.getByRole('button', { name: `Start for ${price}` });

  async function show(id: string, name: string, price: string): Promise<void> {
    await page.goto(`${pipeline.url}/#/batches/${id}`);
    // Until then the page may still show the list before, at the same price.
    await page.getByRole('heading', { level: 1, name }).waitFor();
    await runUntil(pipeline, page, priced(price).waitFor());
  }

  test('that may cost up to so many credits costs no more', async () => {
    const [id = ''] = ids;
    await show(id, 'first.csv', 'up to 9 credits');
    await priced('up to 9 credits').click();
    await runUntil(pipeline, page, page.getByText('Paused').first().waitFor());
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(caller, id)).toMatchObject({
      state: 'paused',
      reason: 'max_credits',
      credits: { charged: 9, max: 9 },
    });
  });

  test('is counted again when an old one is looked at', async () => {
    const id = ids[1] ?? '';
    await pipeline.sql`
      update batches set quote = quote || jsonb_build_object('asked_at', '2026-01-01T00:00:00.000Z')
      where id = ${id}`;
    await page.goto(`${pipeline.url}/#/batches`);
    await show(id, 'second.csv', '12 credits');
    expect(wrong).toEqual([]);
  });

  test('that was counted before more records came costs no more than it says', async () => {
    attempts += 1;
    const later = [1, 2, 3].map((index) => ({
      id: 2000 + 10 * attempts + index,
      email: `later${index}-${attempts}@list.example`,
    }));
    const id = await pipeline.upload(caller, listOf([...people, ...later]), {
      operation: 'people.enrich',
      hold: 'true',
      name: 'longer.csv',
    });
    await show(id, 'longer.csv', '12 credits');
    await page.getByText('never more than this price').waitFor();
    await importGraph(pipeline.sql, { persons: later });
    await priced('12 credits').click();
    await runUntil(pipeline, page, page.getByText('limit of 12 credits').waitFor());
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(caller, id)).toMatchObject({
      state: 'paused',
      reason: 'max_credits',
      credits: { charged: 12, max: 12 },
    });
    expect(wrong).toEqual([]);
  });

  test('of an export that is started at once costs no more than its button says', async () => {
    attempts += 1;
    const skills = `Welding ${attempts}`;
    const welders = (first: number) =>
      crowd(12).map(({ id }) => ({ id: Number(id) + first + attempts * 100, skills }));
    await importGraph(pipeline.sql, { persons: welders(4000) });
    const filter = encodeURIComponent(new URLSearchParams({ skills }).toString());
    await page.goto(`${pipeline.url}/#/search?filter=${filter}&view=export`);
    await page.getByLabel('Show me the price before it starts').uncheck();
    const start = page.getByRole('button', { name: 'Export for about 10 credits' });
    await start.waitFor();
    await importGraph(pipeline.sql, { persons: welders(9000) });
    await start.click();
    await page.waitForURL(/#\/exports\/./);
    await pipeline.runUntilIdle();
    const id = page.url().split('/').at(-1);
    const made = await pipeline.call(caller, `/v1/exports/${id}`);
    // About 10 are 14 at most.
    expect(await made.json()).toMatchObject({ credits: { charged: 14, max: 14 } });
    expect(wrong).toEqual([]);
  });

  test('of an export that is started at once is known before it can be', async () => {
    const filter = encodeURIComponent('skills=Sailing');
    await page.route('**/personsearch/preview*', (route) => route.abort(), { times: 1 });
    await page.goto(`${pipeline.url}/#/search?filter=${filter}&view=export`);
    await page.getByText('We can’t reach the server').waitFor();
    const start = page.getByRole('button', { name: 'Export', exact: true });
    await page.getByLabel('Show me the price before it starts').uncheck();
    expect(await start.getAttribute('aria-disabled')).toBe('true');
    await page.getByLabel('Max credits').fill('5');
    await page.getByRole('button', { name: 'Export for up to 5 credits' }).waitFor();
    await page.getByLabel('Max credits').fill('');
    // Such a filter is never counted.
    await page.goto(`${pipeline.url}/#/search?filter=id%3D7&view=export`);
    await expect.poll(() => start.getAttribute('aria-disabled')).toBe('false');
    expect(wrong).toEqual([]);
  });

  test('of a held export is no more than its page says, also when its people are no longer owned', async () => {
    const skills = 'Riveting';
    await importGraph(pipeline.sql, {
      persons: crowd(1_040).map(({ id }) => ({ id: Number(id) + 20_000, skills })),
    });
    const other = await pipeline.unmeteredAccount(5_000);
    await pipeline.sql`update wallets set owned_days = 30 where account_id = ${other.accountId}`;
    const made = await pipeline.call(other, '/v1/exports', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ filter: `skills=${skills}`, max_results: 1_000 }),
    });
    expect(made.status).toBe(202);
    await pipeline.runUntilIdle();
    expect(await pipeline.wallet(other)).toMatchObject({ balance: 4_000 });
    const search = `${pipeline.url}/#/search?filter=skills%3D${skills}&view=export`;
    const { page: own } = await openSignedIn(browser, search, other.key);
    await own.getByRole('button', { name: 'Continue' }).click();
    const start = own.getByRole('button', { name: /^Start for about/ });
    await runUntil(pipeline, own, start.waitFor());
    // About 1,000 are 1,049 at most.
    await own.getByText('49 credits at most').waitFor();
    await pipeline.sql`
      update owned_people set paid_at = paid_at - interval '31 days' where account_id = ${other.accountId}`;
    await start.click();
    await runUntil(pipeline, own, own.getByText('Completed').first().waitFor());
    await pipeline.runUntilIdle();
    expect(await pipeline.wallet(other)).toMatchObject({ balance: 3_951 });
    await own.context().close();
  });

  test('that the requests of a day no longer allow is told as such, and the list can be started', async () => {
    const other = await pipeline.account(100);
    await pipeline.sql`update api_keys set requests_per_day = 1 where id = ${other.keyId}`;
    const held = { operation: 'people.enrich', hold: 'true' };
    const id = await pipeline.enrich(other, listOf(people), held);
    await pipeline.call(other, '/v1/people/enrich?email=nobody@void.example');
    const { page: own } = await openSignedIn(browser, `${pipeline.url}/#/batches/${id}`, other.key);
    await own.getByText('The limit of 1 for requests a day is reached').waitFor();
    await own.getByRole('button', { name: 'Start without a price' }).click();
    await runUntil(pipeline, own, own.getByText('Completed').first().waitFor());
    await own.context().close();
  });
});
