/**
 * A page that shows what another tab has changed since: it takes nothing of that back, and starts nothing that it does not show.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithBrowser } from '../../../tests/support/browser.ts';
import { openBrowserPipeline } from '../../../tests/support/browser-pipeline.ts';
import { openSignedIn } from '../../../tests/support/console-page.ts';
import type { Caller, Pipeline } from '../../../tests/support/pipeline.ts';
import { accountScopes } from '../../core/keys/keys.ts';

let pipeline: Pipeline;
let browser: Browser;
let caller: Caller;
let page: Page;

describeWithBrowser('a page that is older than a change', () => {
  beforeAll(async () => {
    ({ pipeline, browser } = await openBrowserPipeline());
    const { accountId } = await pipeline.account(1_000);
    caller = await pipeline.keyOf(accountId, 'live', [...accountScopes]);
    ({ page } = await openSignedIn(browser, pipeline.url, caller.key));
  }, 120_000);
  afterAll(() => pipeline.close());

  const send = async (method: string, path: string, body: object) => {
    const headers = { 'Content-Type': 'application/json' };
    const sent = { method, headers, body: JSON.stringify(body) };
    const response = await pipeline.call(caller, path, sent);
    expect(response.ok).toBe(true);
    return (await response.json()) as { id: string };
  };
  const read = async (path: string) => (await pipeline.call(caller, path)).json();
  const button = (name: string | RegExp) => page.getByRole('button', { name });
  const nightly = {
    ...{ name: 'Nightly', cron: '30 2 * * *', filter: 'id=1-9' },
    ...{ mode: 'all', max_credits: 500, max_results: 9 },
  };

  /** A new schedule, and its page. */
  async function openSchedule(): Promise<string> {
    const { id } = await send('POST', '/v1/schedules', nightly);
    await page.goto(`${pipeline.url}/#/schedules/${id}`);
    await button('Edit').waitFor();
    return `/v1/schedules/${id}`;
  }

  test('a schedule keeps the limit that another tab has lowered', async () => {
    const path = await openSchedule();
    await button('Edit').click();
    await send('PATCH', path, { max_credits: 10 });
    await page.getByLabel('Name').fill('Weekly');
    await button('Save the schedule').click();
    await button('Edit').waitFor();
    expect(await read(path)).toMatchObject({ name: 'Weekly', max_credits: 10, max_results: 9 });
    await page.getByRole('heading', { name: 'Weekly' }).waitFor();
  });

  test('a webhook keeps the address that another tab has changed', async () => {
    const events = ['batch.completed'];
    const { id } = await send('POST', '/v1/webhooks', { url: 'https://93.184.215.14/old', events });
    const path = `/v1/webhooks/${id}`;
    await page.goto(`${pipeline.url}/#/webhooks/${id}`);
    await button('Change').click();
    await send('PATCH', path, { url: 'https://93.184.215.14/new' });
    await page.getByLabel('Low-credit alert threshold').fill('7');
    await button('Save changes').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const saved = { url: 'https://93.184.215.14/new', events, credits_low_threshold: 7 };
    expect(await read(path)).toMatchObject(saved);
    await page.getByRole('heading', { name: '/new' }).waitFor();
  });

  test('a form that nothing was changed in can be saved', async () => {
    const path = await openSchedule();
    await button('Edit').click();
    await button('Save the schedule').click();
    await button('Edit').waitFor();
    expect(await read(path)).toMatchObject(nightly);
  });

  test('a schedule that another tab has changed is not run before it is shown', async () => {
    const path = await openSchedule();
    await send('PATCH', path, { filter: 'gender=1', mode: 'new', max_results: null });
    await button('Run now').click();
    await page.getByRole('dialog').getByRole('button', { name: /^Run/ }).click();
    await page.getByRole('dialog').getByText('changed in another tab').waitFor();
    expect(await read('/v1/exports')).toMatchObject({ data: [] });
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('Male').first().waitFor();
  });
});
