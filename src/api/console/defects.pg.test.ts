/** Small things that were once wrong on single pages, each seen as a person sees it. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithBrowser } from '../../../tests/support/browser.ts';
import { openBrowserPipeline } from '../../../tests/support/browser-pipeline.ts';
import {
  expectAccessible,
  openConsole,
  openSignedIn,
} from '../../../tests/support/console-page.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import type { Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { createAccount } from '../../core/accounts/accounts.ts';
import { accountScopes, type Scope, scopes } from '../../core/keys/keys.ts';

let pipeline: Pipeline;
let browser: Browser;

describeWithBrowser('the console', () => {
  beforeAll(async () => {
    ({ pipeline, browser } = await openBrowserPipeline());
    await importGraph(pipeline.sql, { persons: crowd(12) });
  }, 120_000);
  afterAll(() => pipeline.close());

  async function openAt(path: string, allowed: readonly Scope[] = accountScopes) {
    const { accountId } = await pipeline.account(100);
    const caller = await pipeline.keyOf(accountId, 'live', [...allowed]);
    const opened = await openSignedIn(browser, `${pipeline.url}/#${path}`, caller.key);
    return { ...opened, caller };
  }

  test('says in a sentence what to enter where a number or a name does not fit', async () => {
    const { page } = await openAt('/keys');
    await page.getByRole('button', { name: 'New key' }).first().click();
    await page.getByLabel('Name').fill('x'.repeat(120));
    await page.getByLabel('Requests per minute').fill('0');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('Enter 1 or more.', { exact: true }).waitFor();
    await page.getByText('Use at most 100 characters.', { exact: true }).waitFor();
    await expectAccessible(page);
    await page.goto(`${pipeline.url}/#/webhooks`);
    await page.getByRole('button', { name: 'New webhook' }).first().click();
    await page.getByLabel('Low-credit alert threshold').fill('0');
    await page.getByRole('button', { name: /^(Create|Make)/ }).click();
    await page.getByText('Enter 1 or more.', { exact: true }).waitFor();
    await page.context().close();
  });

  test('tells a person who signed in by email who may see a page', async () => {
    const who = { email: 'ada@list.example', password: 'correct horse battery' };
    await createAccount(pipeline.sql, { name: 'Ada', credits: 10, ...who });
    const { page } = await openConsole(browser, `${pipeline.url}/#/health`);
    await page.getByLabel('Email address').fill(who.email);
    await page.getByLabel('Password').fill(who.password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'You don’t have access to this page' }).waitFor();
    expect(await page.getByText('that you signed in with').count()).toBe(0);
    await expectAccessible(page);
    await page.context().close();
  });

  test('shows an operator what is wrong with the service', async () => {
    const { page, wrong } = await openAt('/health', scopes);
    await page.getByText('Something is wrong').waitFor();
    await page
      .getByText(/no worker/i)
      .first()
      .waitFor();
    await page.getByText('Oldest queued job').waitFor();
    await page.getByText('Disk free').waitFor();
    await expectAccessible(page);
    expect(wrong).toEqual([]);
    await page.context().close();
  });

  test('leads an address without its # to the page, and a program to a problem', async () => {
    const { page } = await openAt('/batches');
    await page.goto(`${pipeline.url}/batches/new`);
    await page.getByRole('heading', { name: 'Upload a list' }).waitFor();
    await page.goto(`${pipeline.url}/nonsense`);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await page.context().close();
    await expectProblem(await pipeline.call(null, '/nonsense'), { status: 404, code: 'not_found' });
    const headers = { Accept: 'text/html' };
    const api = await pipeline.call(null, '/v1/nonsense', { headers });
    await expectProblem(api, { status: 404, code: 'not_found' });
  });

  test('stays the console where a page cannot be loaded, until the service is there again', async () => {
    const { page, wrong } = await openAt('/batches');
    const navigation = page.getByRole('navigation', { name: 'Pages' });
    const isLost = page.getByRole('heading', { name: 'This page could not be loaded' });
    await page.context().setOffline(true);
    await navigation.getByRole('link', { name: 'Credits' }).click();
    await isLost.waitFor();
    for (let click = 0; click < 2; click++) {
      const tried = page.waitForEvent('requestfailed');
      await page.getByRole('button', { name: 'Reload' }).click();
      await tried;
      await isLost.waitFor();
      expect(page.url()).toBe(`${pipeline.url}/#/credits`);
      await navigation.waitFor();
    }
    await page.context().setOffline(false);
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('heading', { name: 'Credits', level: 1 }).waitFor();
    expect(wrong).toEqual([]);
    await page.context().close();
  });

  test('shows the times of a zone that the browser does not know, and stays the console where a page fails', async () => {
    const { page, caller } = await openAt('/schedules');
    const schedule = { name: 'Nightly', cron: '30 2 * * *', filter: 'gender=2' };
    const made = await pipeline.call(caller, '/v1/schedules', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(schedule),
    });
    const view = (await made.json()) as { id: string };
    let answer: object = { ...view, time_zone: 'Mars/Olympus_Mons' };
    await page.route(`**/v1/schedules/${view.id}`, (route) => route.fulfill({ json: answer }));
    await page.route('**/v1/schedules/preview?*', async (route) =>
      route.fulfill({ json: { next_runs: ['2027-01-02T02:30:00Z'] } }),
    );
    await page.goto(`${pipeline.url}/#/schedules/${view.id}`);
    await page.getByText('Time zone: Olympus Mons (Mars).').waitFor();
    await page
      .getByText(/2 Jan 2027.*02:30.*UTC/)
      .first()
      .waitFor();
    answer = { ...view, cron: null };
    await page.reload();
    await page.getByRole('heading', { name: 'This page could not be shown' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Credits' }).click();
    await page.getByRole('heading', { name: 'Credits', level: 1 }).waitFor();
    await page.context().close();
  });

  test('offers what can be done with a search only when it has a filter', async () => {
    const { page } = await openAt('/search');
    await page.getByText('Describe who you are looking for').waitFor();
    const ways = ['People', 'Export', 'Schedule'];
    const linkTo = (name: string) =>
      page.getByRole('main').getByRole('link', { name, exact: true });
    for (const name of ways) expect(await linkTo(name).count()).toBe(0);
    expect(await page.getByTitle('Add a filter first').allTextContents()).toEqual(
      ways.map((name) => `${name} (add a filter first)`),
    );
    await page.goto(`${pipeline.url}/#/search?filter=email%3D*`);
    for (const name of ways) await linkTo(name).waitFor();
    await page.context().close();
  });

  test('shows the whole button that clears a search on a phone', async () => {
    const { page } = await openAt('/search?filter=email%3D*');
    await page.setViewportSize({ width: 390, height: 844 });
    const clear = page.getByRole('button', { name: 'Clear', exact: true });
    const box = await clear.boundingBox();
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(390);
    expect(box?.height).toBeLessThan(50);
    await page.context().close();
  });

  test('tells the lists of one minute apart, adds up what each cost, and shows the balance', async () => {
    const { page, caller } = await openAt('/batches');
    const emails = crowd(9).map(({ email }) => email);
    for (const [name, rows] of [
      ['Spring fair', 3],
      ['Autumn fair', 9],
    ] as const) {
      const list = `email\n${emails.slice(0, rows).join('\n')}\n`;
      await pipeline.enrich(caller, list, { operation: 'people.enrich', name });
    }
    await page.goto(`${pipeline.url}/#/credits`);
    const spend = page.getByRole('table', { name: 'Spend by list and export' });
    await spend.waitFor();
    expect(await spend.getByRole('rowheader').allTextContents()).toEqual([
      'Autumn fairEnrich people',
      'Spring fairEnrich people',
    ]);
    expect(await spend.getByRole('cell').allTextContents()).toEqual(['9', '75%', '3', '25%']);
    await page.getByRole('table', { name: 'Spend by key' }).waitFor();
    await page.getByRole('img', { name: /100 at first, 88 now|0 at first, 88 now/ }).waitFor();
    await page.getByText('About 12 credits per day so far.').waitFor();
    await page.getByText('Last 7 days: 12 credits, none in the 7 days before.').waitFor();
    await page.getByText('--owned-days 90').waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download as CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^credits .*\.csv$/);
    await expectAccessible(page);
    await page.goto(`${pipeline.url}/#/keys`);
    const key = page.getByRole('row').filter({ hasText: 'Active' }).first();
    await key.getByText('12', { exact: true }).waitFor();
    expect(await key.getByText('Never').count()).toBe(0);
    await expectAccessible(page);
    await page.context().close();
  });

  test('says that a webhook fails as soon as it is read again', async () => {
    const { page, caller } = await openAt('/webhooks');
    const response = await pipeline.call(caller, '/v1/webhooks', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ url: 'https://8.8.8.8/hooks' }),
    });
    const { id } = (await response.json()) as { id: string };
    await page.goto(`${pipeline.url}/#/webhooks/${id}`);
    const about = page.getByRole('banner').or(page.locator('.page-header'));
    await about.getByText('On', { exact: true }).waitFor();
    await pipeline.sql`update webhooks set failing_since = now() where id = ${id}`;
    await page.getByRole('button', { name: 'Refresh' }).click();
    await about.getByText('Failing', { exact: true }).waitFor();
    await expectAccessible(page);
    await page.context().close();
  });
});
