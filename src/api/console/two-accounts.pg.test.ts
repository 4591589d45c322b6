/**
 * Tabs of one browser in which people sign in to one account after the other: what a page of one does never happens in the other.
 */
import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithBrowser } from '../../../tests/support/browser.ts';
import { openBrowserPipeline } from '../../../tests/support/browser-pipeline.ts';
import { openSignedIn, openTab } from '../../../tests/support/console-page.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import type { Caller, Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { accountScopes } from '../../core/keys/keys.ts';
import { must } from '../../core/lib/assert.ts';
import { createSignInLink } from '../../core/sessions/sessions.ts';

let pipeline: Pipeline;
let browser: Browser;

describeWithBrowser('two accounts in one browser', () => {
  beforeAll(async () => {
    ({ pipeline, browser } = await openBrowserPipeline());
    await importGraph(pipeline.sql, { persons: crowd(12) });
  }, 120_000);
  afterAll(() => pipeline.close());

  const search = '/search?filter=gender%3D1&view=people';

  /** A page of the first account, and another tab in which the second one can sign in. */
  async function openTwo(path = search) {
    const { accountId } = await pipeline.account(100);
    const first = await pipeline.keyOf(accountId, 'live', [...accountScopes]);
    const second = await pipeline.account(200);
    for (const [name, { accountId }] of Object.entries({ First: first, Second: second })) {
      await pipeline.sql`update accounts set name = ${name} where id = ${accountId}`;
    }
    const { page } = await openSignedIn(browser, `${pipeline.url}/#${path}`, first.key);
    const { page: other } = await openTab(await page.context().newPage(), pipeline.url);
    return { first, second, page, other };
  }

  /** Signs in to another account over the one before. */
  async function signInOver(page: Page, { accountId }: Caller, name: string) {
    const link = await createSignInLink(pipeline.sql, accountId);
    await page.goto(`${pipeline.url}/#/sign-in?link=${link}`);
    await page.locator('.who').getByText(name).waitFor();
  }

  async function exportsOf(caller: Caller): Promise<number> {
    const response = await pipeline.call(caller, '/v1/exports');
    return ((await response.json()) as { data: unknown[] }).data.length;
  }

  const take = (page: Page) => page.getByRole('button', { name: /^Show up to/ });
  async function takeAsTheSessionEnds(page: Page) {
    const end = async (route: Route) => {
      await pipeline.sql`update sessions set expires_at = now()`;
      await route.continue();
    };
    await page.route('**/v1/exports', end, { times: 1 });
    await take(page).click();
    await page.getByRole('dialog').waitFor();
  }
  const account = (page: Page, name: string) => page.locator('.who').getByText(name);
  const settled = (page: Page) =>
    page.evaluate(
      'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))',
    );

  /** Signs in to the second account in the other tab; the page does not hear of it. */
  async function signInUnheard(page: Page, other: Page, second: Caller) {
    // A call that is still to come would be refused, and tell the page of the other account.
    await page.waitForLoadState('networkidle');
    // What the other tab tells leads to nothing.
    const lost = page.waitForEvent('requestfailed');
    await page.route('**/console/session', (route) => route.abort('connectionreset'), { times: 1 });
    await signInOver(other, second, 'Second');
    await lost;
    await account(page, 'First').waitFor();
  }

  test('a page of the one downloads no ledger of the other', async () => {
    const { second, page, other } = await openTwo('/credits');
    const button = page.getByText('Download as CSV');
    await button.waitFor();
    await signInUnheard(page, other, second);
    let downloads = 0;
    page.on('download', () => downloads++);
    await button.click();
    await account(page, 'Second').waitFor();
    expect(downloads).toBe(0);
    await page.context().close();
  });

  test('a page that has not heard of the other one does nothing there, and shows it then', async () => {
    const { first, second, page, other } = await openTwo();
    await take(page).waitFor();
    await signInUnheard(page, other, second);
    const answered = page.waitForResponse('**/v1/exports');
    await take(page).click();
    expect((await answered).status()).toBe(409);
    await account(page, 'Second').waitFor();
    await expect.poll(() => page.locator('.wallet strong').textContent()).toBe('200');
    expect([await exportsOf(first), await exportsOf(second)]).toEqual([0, 0]);
    await page.context().close();
  });

  test('what waits for a sign-in is not done in the one that another tab signs in to', async () => {
    const { first, second, page, other } = await openTwo();
    await takeAsTheSessionEnds(page);
    await signInOver(other, second, 'Second');
    await account(page, 'Second').waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.evaluate("fetch('/v1/me').then((response) => response.text())");
    expect([await exportsOf(first), await exportsOf(second)]).toEqual([0, 0]);
    await page.context().close();
  });

  test('what waits for a sign-in goes on when another tab signs in to the same one', async () => {
    const { first, page, other } = await openTwo();
    await takeAsTheSessionEnds(page);
    await signInOver(other, first, 'First');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByText('Finding people…').waitFor();
    expect(await exportsOf(first)).toBe(1);
    await page.context().close();
  });

  test('a request of the one whose response was lost is not sent in the other', async () => {
    const path = '/search?filter=gender%3D1&view=schedule';
    const { second, page } = await openTwo(path);
    const save = async (name: string) => {
      await page.getByLabel('Name', { exact: true }).fill(name);
      await page.getByRole('button', { name: 'Save the schedule' }).click();
    };
    await page.route('**/v1/schedules', (route) => route.abort('connectionreset'), { times: 1 });
    await save('Of the first');
    await page.getByText('We can’t reach the server').waitFor();
    await signInOver(page, second, 'Second');
    await page.goto(`${pipeline.url}/#${path}`);
    await save('Of the second');
    await page.getByRole('heading', { name: 'Of the second' }).waitFor();
    await page.context().close();
  });

  test('a page that comes back from the history shows who is signed in by then', async () => {
    const { first, page } = await openTwo('/batches');
    await page.waitForLoadState('networkidle');
    await pipeline.sql`delete from sessions where account_id = ${first.accountId}`;
    await page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))");
    await page.getByRole('radio', { name: 'API key' }).waitFor();
    expect(await account(page, 'First').count()).toBe(0);
    await page.context().close();
  });

  test('a page shows the one that signed in last, also when the answers come in another order', async () => {
    const { first, second, page, other } = await openTwo('/batches');
    const held: Route[] = [];
    await page.route('**/console/session', (route) => {
      held.push(route);
    });
    await signInOver(other, second, 'Second');
    await expect.poll(() => held.length).toBe(1);
    const late = await must(held[0], 'route').fetch();
    await signInOver(other, first, 'First');
    await expect.poll(() => held.length).toBe(2);
    for (const [route, response] of [
      [held[1], await must(held[1], 'route').fetch()],
      [held[0], late],
    ] as const) {
      const arrived = page.waitForResponse('**/console/session');
      await must(route, 'route').fulfill({ response });
      await (await arrived).finished();
      await settled(page);
    }
    expect(await account(page, 'First').isVisible()).toBe(true);
    await page.context().close();
  });
});
