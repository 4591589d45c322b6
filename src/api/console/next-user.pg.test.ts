/** Requests and choices that a user leaves in a tab last as long as they are of use, and never for the next user of the tab. */
import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithBrowser } from '../../../tests/support/browser.ts';
import { openBrowserPipeline } from '../../../tests/support/browser-pipeline.ts';
import { openSignedIn, openTab, signInWithKey } from '../../../tests/support/console-page.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import type { Caller, Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd } from '../../../tests/support/small-graph.ts';

const search = '/#/search?filter=skills%3DWelding&view=people';
/** Two people of one name at one company, and a list with a row that both fit. */
const twins = [0, 1].map((twin) => ({ id: 900 + twin, name: 'Ilka', surname: 'Quast' }));
const list = 'First name,Last name,Company\nIlka,Quast,Bergkristall AG\n';

let pipeline: Pipeline;
let browser: Browser;

describeWithBrowser('what a user leaves in a tab', () => {
  beforeAll(async () => {
    ({ pipeline, browser } = await openBrowserPipeline());
    await importGraph(pipeline.sql, {
      companies: [{ id: 10, name: 'Bergkristall AG' }],
      persons: [
        ...crowd(30).map((person) => ({ ...person, skills: 'Welding' })),
        ...twins.map((person) => ({ ...person, companyId: 10 })),
      ],
    });
  }, 120_000);
  afterAll(() => pipeline.close());

  /** A page on which a payment was clicked whose response was lost. */
  async function openUnheard(caller: Caller): Promise<Page> {
    const { page } = await openSignedIn(browser, pipeline.url + search, caller.key);
    const lose = async (route: Route) => {
      await route.fetch();
      await route.abort('connectionreset');
    };
    await page.route('**/v1/exports', lose, { times: 1 });
    await take(page).click();
    await page.getByText('We can’t reach the server').first().waitFor();
    return page;
  }

  const openOther = async (page: Page) =>
    (await openTab(await page.context().newPage(), pipeline.url)).page;

  const take = (page: Page) => page.getByRole('button', { name: /^Show up to 25/ });
  const kept = (page: Page) => page.evaluate('JSON.stringify([localStorage, sessionStorage])');
  const signOut = (page: Page) => page.getByRole('button', { name: 'Sign out' }).click();
  const signedOut = (page: Page) => page.getByRole('heading', { name: 'Sign in' }).waitFor();

  test('is no filter of a request whose response was lost: the next user of the browser reads none', async () => {
    const page = await openUnheard(await pipeline.account(100));
    expect(await kept(page)).not.toMatch(/Welding|skills/);
    await signOut(page);
    await signedOut(page);
    await signInWithKey(page, (await pipeline.account(100)).key);
    const key = page.waitForRequest('**/v1/exports');
    await take(page).click();
    expect(await kept(page)).toContain((await key).headers()['idempotency-key']);
    await page.waitForURL(/#\/exports\/./);
    await page.context().close();
  });

  test.each<[string, (page: Page) => Promise<unknown>]>([
    ['after signing out', signOut],
    ['after signing out in another tab', async (page) => signOut(await openOther(page))],
    [
      'after the session has ended',
      async (page) => {
        await page.context().clearCookies();
        await page.reload();
      },
    ],
  ])(
    'is still there for the same account %s: the payment is the one that was begun',
    async (_, leave) => {
      const caller = await pipeline.account(100);
      const page = await openUnheard(caller);
      await leave(page);
      await signedOut(page);
      await signInWithKey(page, caller.key);
      await take(page).click();
      await page.getByText(/No other was created\.$/).waitFor();
      await pipeline.runUntilIdle();
      expect(await pipeline.wallet(caller)).toMatchObject({ balance: 75 });
      await page.context().close();
    },
  );

  test('is no request of a day ago, whose key the service has forgotten', async () => {
    const page = await openUnheard(await pipeline.account(100));
    const keys: (string | undefined)[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST') keys.push(request.headers()['idempotency-key']);
    });
    const ofToday = await kept(page);
    await page.route('**/v1/exports', (route) => route.abort('connectionreset'), { times: 2 });
    await take(page).click();
    await expect.poll(() => keys).toHaveLength(1);
    expect(ofToday).toContain(keys[0]);
    await page.getByText('We can’t reach the server').first().waitFor();
    // The header `Date` has whole seconds, so a day by it may be a second short.
    const day = 24 * 60 * 60 * 1000 + 2_000;
    await page.clock.setFixedTime(new Date(Date.now() + day));
    await page.route('**/v1/**', async (route) => {
      if (route.request().method() !== 'GET') return route.fallback();
      const response = await route.fetch();
      const date = new Date(Date.now() + day).toUTCString();
      await route.fulfill({ response, headers: { ...response.headers(), date } });
    });
    const read = page.waitForResponse('**/v1/me');
    await page.reload();
    await (await read).finished();
    await take(page).click();
    await expect.poll(() => keys).toHaveLength(2);
    expect(ofToday).not.toContain(keys[1]);
    await page.context().close();
  });

  /** A page with a choice for an ambiguous row that is not saved. */
  async function openUnsaved() {
    const caller = await pipeline.account(100);
    const options = { operation: 'people.enrich', fields: 'id', match: 'likely' };
    const id = await pipeline.enrich(caller, list, options);
    const path = `${pipeline.url}/#/batches/${id}/ambiguous`;
    const { page } = await openSignedIn(browser, path, caller.key);
    await page.getByRole('button', { name: 'Choose 1' }).click();
    await page.getByRole('button', { name: /^Save 1 decision/ }).waitFor();
    return { page, id, caller };
  }

  /** Reloads the page from within; true when the browser asks first. */
  async function asksToLeave(page: Page): Promise<boolean> {
    let isAsked = false;
    page.once('dialog', (dialog) => {
      isAsked = true;
      void dialog.accept();
    });
    const loaded = page.waitForEvent('load');
    await page.evaluate('setTimeout(() => location.reload())');
    await loaded;
    return isAsked;
  }

  test('asks the next account nothing about choices of the first', async () => {
    const { page } = await openUnsaved();
    await signOut(page);
    await signedOut(page);
    await signInWithKey(page, (await pipeline.account(100)).key);
    await page.locator('.account').waitFor();
    expect(await asksToLeave(page)).toBe(false);
    await page.context().close();
  });

  test('asks nothing about choices that no one can save, because the files of the list are gone', async () => {
    const { page, id } = await openUnsaved();
    await pipeline.sql`update batches set files_deleted_at = now() where id = ${id}`;
    await page.getByRole('button', { name: /^Save 1 decision/ }).click();
    await page.getByText('The files are no longer kept.').waitFor();
    expect(await page.getByRole('button', { name: /decision|Choose/ }).count()).toBe(0);
    expect(await asksToLeave(page)).toBe(false);
    await page.context().close();
  });
});
