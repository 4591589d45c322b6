/** The page of a webhook follows its deliveries, and keeps what it has shown. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithBrowser } from '../../../tests/support/browser.ts';
import { openBrowserPipeline } from '../../../tests/support/browser-pipeline.ts';
import { openSignedIn } from '../../../tests/support/console-page.ts';
import type { Caller, Pipeline } from '../../../tests/support/pipeline.ts';
import { accountScopes } from '../../core/keys/keys.ts';

const SENT = 25;

let pipeline: Pipeline;
let browser: Browser;
let caller: Caller;
let page: Page;
let wrong: string[];
let id: string;
let reads = 0;

describeWithBrowser('the page of a webhook', () => {
  beforeAll(async () => {
    ({ pipeline, browser } = await openBrowserPipeline());
    const { accountId } = await pipeline.account(0);
    caller = await pipeline.keyOf(accountId, 'live', [...accountScopes]);
    const made = await pipeline.call(caller, '/v1/webhooks', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ url: 'https://93.184.215.14/hook', events: ['batch.completed'] }),
    });
    ({ id } = (await made.json()) as { id: string });
    for (let sent = 0; sent < SENT; sent++) {
      await pipeline.call(caller, `/v1/webhooks/${id}/test`, { method: 'POST' });
    }
    ({ page, wrong } = await openSignedIn(browser, pipeline.url, caller.key));
    page.on('request', (request) => {
      if (request.url().endsWith('/deliveries')) reads++;
    });
    // Its timers go by the test's clock.
    await page.clock.install();
    await page.goto(`${pipeline.url}/?#/webhooks/${id}`);
  }, 120_000);
  afterAll(() => pipeline.close());

  const deliveries = () =>
    page.getByRole('table', { name: 'Deliveries, newest first' }).locator('tbody tr').count();

  const untilRead = () => expect.poll(() => page.locator('button[aria-busy=true]').count()).toBe(0);

  /** Lets the time pass after which the page reads again; resolves when it shows the response. */
  async function readAgain() {
    const last = page.waitForResponse((response) => response.url().endsWith('/deliveries'));
    await page.clock.runFor(2_000);
    await (await last).finished();
    await untilRead();
  }

  test('keeps the older deliveries while it follows those on their way', async () => {
    await expect.poll(deliveries).toBe(20);
    await page.getByRole('button', { name: 'Show older deliveries' }).click();
    await expect.poll(deliveries).toBe(SENT);
    await readAgain();
    expect(await deliveries()).toBe(SENT);
    expect(await page.getByRole('button', { name: 'Show older deliveries' }).count()).toBe(0);
  });

  test('follows a delivery that is sent again after it had stopped', async () => {
    // More than the time of a read passes without one.
    const readsIn = async (ms: number) => {
      const before = reads;
      await page.clock.runFor(ms);
      await untilRead();
      return reads - before;
    };
    await expect.poll(() => readsIn(10_000)).toBe(0);
    await pipeline.sql`
      update webhook_deliveries set state = 'failed', error = 'refused' where webhook_id = ${id}`;
    await page.getByRole('button', { name: 'Refresh' }).click();
    await expect.poll(() => page.getByText('Failed', { exact: true }).count()).toBe(SENT);
    await page.getByRole('button', { name: 'Send again' }).last().click();
    await page.getByText('Pending', { exact: true }).waitFor();
    await pipeline.sql`
      update webhook_deliveries set state = 'failed', error = 'refused again'
      where webhook_id = ${id} and state = 'pending'`;
    await readAgain();
    await page.getByText('refused again').waitFor();
    expect(wrong).toEqual([]);
  });
});
