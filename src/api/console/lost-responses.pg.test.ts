/** A request that a user repeats after its response was lost is done once, and one that changes a state each time. */
import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithBrowser } from '../../../tests/support/browser.ts';
import { openBrowserPipeline } from '../../../tests/support/browser-pipeline.ts';
import { openSignedIn, openTab, runUntil } from '../../../tests/support/console-page.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import type { Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd } from '../../../tests/support/small-graph.ts';

const people = crowd(30);
const list = `Email\n${people.map(({ email }) => email).join('\n')}\n`;

let pipeline: Pipeline;
let browser: Browser;

describeWithBrowser('a response that is lost', () => {
  beforeAll(async () => {
    ({ pipeline, browser } = await openBrowserPipeline());
    await importGraph(pipeline.sql, {
      industries: [{ id: 30, name: 'Shipping' }],
      persons: people.map((person) => ({ ...person, industryId: 30, skills: 'Welding' })),
    });
  }, 120_000);
  afterAll(() => pipeline.close());

  /** Of the next such call: it is made, and the page does not hear of it. */
  const loseResponse = (page: Page, path: string) =>
    page.route(
      path,
      async (route) => {
        await route.fetch();
        await route.abort('connectionreset');
      },
      { times: 1 },
    );

  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });

  /** Named at once: no name has to be looked up. */
  const search = () => `${pipeline.url}/#/search?filter=skills%3DWelding&view=people`;

  /** The people of a search, before an account of so many credits. */
  async function openPeople(credits: number) {
    const caller = await pipeline.account(credits);
    const { page } = await openSignedIn(browser, search(), caller.key);
    return { page, caller };
  }

  const sayUnreachable = (page: Page) => page.getByText('We can’t reach the server').first();

  test('to a pause stops no later pause', async () => {
    const caller = await pipeline.account(1_000);
    const id = await pipeline.enrich(caller, list, { operation: 'people.enrich', hold: 'true' });
    await pipeline.call(caller, `/v1/batches/${id}/start`, { method: 'POST' });
    const { page } = await openSignedIn(browser, `${pipeline.url}/#/batches/${id}`, caller.key);
    await loseResponse(page, '**/pause');
    await button(page, 'Pause').click();
    await sayUnreachable(page).waitFor();
    await button(page, 'Resume').click();
    await button(page, 'Pause').click();
    await button(page, 'Resume').waitFor();
    expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'paused' });
    await page.context().close();
  });

  test('to a change of a list is sent again on demand, and the list can be started', async () => {
    const caller = await pipeline.account(1_000);
    const id = await pipeline.enrich(caller, list, { operation: 'people.enrich', hold: 'true' });
    const { page } = await openSignedIn(browser, `${pipeline.url}/#/batches/${id}`, caller.key);
    await expect.poll(() => pipeline.queues.waiting.length).toBeGreaterThan(0);
    await pipeline.runUntilIdle();
    await button(page, /^Start for/).waitFor();
    await loseResponse(page, `**/v1/batches/${id}`);
    await page.getByLabel('Charge once per person').click();
    await sayUnreachable(page).waitFor();
    await button(page, 'Try again').click();
    await runUntil(pipeline, page, button(page, /^Start for/).waitFor());
    expect(await pipeline.batch(caller, id)).toMatchObject({ dedupe: true });
    await page.context().close();
  });

  /** Opens a search by an industry whose name is told when it is let go, and loses the response of the next such call. */
  async function openUnnamed(view: string, lost: string) {
    let late: Route | undefined;
    const caller = await pipeline.account(1_000);
    const { page } = await openSignedIn(browser, `${pipeline.url}/#/exports`, caller.key);
    await page.route('**/v1/lookups/industries?ids=*', (route) => {
      late = route;
    });
    await page.goto(`${pipeline.url}/#/search?filter=industryIds%3D30&view=${view}`);
    await loseResponse(page, lost);
    const name = async () => {
      await expect.poll(() => late).toBeDefined();
      const named = page.waitForResponse('**/v1/lookups/**');
      await late?.continue();
      await (await named).finished();
      await page.evaluate('new Promise(requestAnimationFrame)');
    };
    return { page, caller, name };
  }

  const sayDone = (page: Page) => page.getByText('An earlier click has done this already');

  test('to a payment is not repeated under the name that the search has got since, but told', async () => {
    const { page, caller, name } = await openUnnamed('people', '**/v1/exports');
    await page.getByRole('heading', { name: /^About 30 people$/ }).waitFor();
    await button(page, /^Show up to 25/).click();
    await sayUnreachable(page).waitFor();
    await name();
    await button(page, /^Show up to 25/).click();
    await sayDone(page).waitFor();
    await pipeline.runUntilIdle();
    expect(await pipeline.wallet(caller)).toMatchObject({ balance: 975 });
    // Told of it, a user may want another one.
    await button(page, /^Show up to 25/).click();
    await page.waitForURL(/#\/exports\/./);
    await pipeline.runUntilIdle();
    expect(await pipeline.wallet(caller)).toMatchObject({ balance: 950 });
    await page.context().close();
  });

  test('to a payment is not repeated for the fewer people whom the credits that it left pay for, but told', async () => {
    const { page, caller } = await openPeople(30);
    await loseResponse(page, '**/v1/exports');
    await button(page, /^Show up to 25/).click();
    await sayUnreachable(page).waitFor();
    await pipeline.runUntilIdle();
    await page.reload();
    await button(page, 'Show up to 5 people, 5 credits at most').click();
    await sayDone(page).waitFor();
    await pipeline.runUntilIdle();
    expect(await pipeline.wallet(caller)).toMatchObject({ balance: 5 });
    await page.context().close();
  });

  test('to a payment is repeated by a click in another tab, and then by one in its own: it is made once', async () => {
    const { page, caller } = await openPeople(1_000);
    const { page: other } = await openTab(await page.context().newPage(), search());
    await loseResponse(page, '**/v1/exports');
    await button(page, /^Show up to 25/).click();
    await sayUnreachable(page).waitFor();
    for (const tab of [other, page]) {
      await button(tab, /^Show up to 25/).click();
      await tab.getByText(/^This export was created .* No other was created\.$/).waitFor();
    }
    await pipeline.runUntilIdle();
    expect(await pipeline.wallet(caller)).toMatchObject({ balance: 975 });
    await page.context().close();
  });

  test.each([
    ['cut off after its head', { length: 20 }],
    ['replaced by the 408 of a proxy', { status: 408, body: '<h1>Request Timeout</h1>' }],
    ['replaced by the JSON of a proxy', { status: 499, json: { code: 499, errors: 'closed' } }],
    ['replaced by the page of a proxy', { status: 200, body: '<h1>Sign in to the network</h1>' }],
  ])('is repeated too when it was %s: a payment is made once', async (_, lost) => {
    const { page, caller } = await openPeople(1_000);
    await page.route(
      '**/v1/exports',
      async (route) => {
        const response = await route.fetch();
        const { length, ...instead } = { length: 0, ...lost };
        const cut = { response, body: (await response.text()).slice(0, length) };
        await route.fulfill(length > 0 ? cut : instead);
      },
      { times: 1 },
    );
    await button(page, /^Show up to 25/).click();
    await page.locator('.take + .alert .notice').waitFor();
    await button(page, /^Show up to 25/).click();
    await page.waitForURL(/#\/exports\/./);
    await pipeline.runUntilIdle();
    const made = await pipeline.sql`select from batches where account_id = ${caller.accountId}`;
    expect(made).toHaveLength(1);
    expect(await pipeline.wallet(caller)).toMatchObject({ balance: 975 });
    await page.context().close();
  });

  /** Events between the lost response to a payment and the next click. */
  const meanwhile: [string, (page: Page) => Promise<unknown>][] = [
    ['the page was reloaded', (page) => page.reload()],
    [
      'a limit refused the next click',
      async (page) => {
        const refusal = { title: 'Slow down', code: 'rate_limited', retry_after: 1 };
        const limited = { status: 429, json: refusal };
        await page.route('**/v1/exports', (route) => route.fulfill(limited), { times: 1 });
        await button(page, /^Show up to 25/).click();
        await page.getByText('Slow down').waitFor();
      },
    ],
  ];

  test.each(meanwhile)('to a payment is repeated as it was, also when %s', async (_, pass) => {
    const { page, caller } = await openPeople(1_000);
    await loseResponse(page, '**/v1/exports');
    await button(page, /^Show up to 25/).click();
    await sayUnreachable(page).waitFor();
    await pass(page);
    await button(page, /^Show up to 25/).click();
    await page.waitForURL(/#\/exports\/./);
    await pipeline.runUntilIdle();
    expect(await pipeline.wallet(caller)).toMatchObject({ balance: 975 });
    await page.getByText(/^This export was created .* No other was created\.$/).waitFor();
    // Heard now: the same people once more are another export.
    await page.goto(search());
    await button(page, /^Show up to 25/).click();
    await page.waitForURL(/#\/exports\/./);
    await pipeline.runUntilIdle();
    expect(await pipeline.wallet(caller)).toMatchObject({ balance: 950 });
    await page.context().close();
  });

  test('to an upload makes no second list, also when the file is chosen again after a reload', async () => {
    const caller = await pipeline.account(1_000);
    const { page } = await openSignedIn(browser, `${pipeline.url}/#/batches/new`, caller.key);
    await loseResponse(page, '**/v1/batches?operation=*');
    const send = async (buffer: Buffer) => {
      const leads = { name: 'leads.csv', mimeType: 'text/csv', buffer };
      await page.locator('input[type="file"]').setInputFiles(leads);
      await button(page, 'Continue').click();
    };
    await send(Buffer.from(list));
    await page.getByText('The connection was lost during the upload').waitFor();
    await page.reload();
    await send(Buffer.from(list));
    await page.waitForURL(/#\/batches\/[0-9a-f]/);
    const made = await pipeline.sql`select from batches where account_id = ${caller.accountId}`;
    expect(made).toHaveLength(1);
    await page.getByText(/^This list was created .* No other was created\.$/).waitFor();
    await page.context().close();
  });

  test('to a new schedule makes no second one, also under a name that is refused at first', async () => {
    const { page, caller, name } = await openUnnamed('schedule', '**/v1/schedules');
    await button(page, 'Save the schedule').click();
    await sayUnreachable(page).waitFor();
    await name();
    const named = page.getByLabel('Name', { exact: true });
    await expect.poll(() => named.inputValue()).toBe('Shipping');
    await named.fill('n'.repeat(1_000));
    await button(page, 'Save the schedule').click();
    await expect.poll(() => named.getAttribute('aria-invalid')).toBe('true');
    await named.fill('Ships');
    await button(page, 'Save the schedule').click();
    await sayDone(page).waitFor();
    const made = await pipeline.sql`
      select from schedules where account_id = ${caller.accountId}`;
    expect(made).toHaveLength(1);
    await page.context().close();
  });

  /** A schedule of 30 people, of whom more come, and a page on which a run of it is clicked. */
  async function openRun(industry: number) {
    let next = industry * 1_000;
    const more = () => {
      const first = next;
      next += 100;
      return importGraph(pipeline.sql, {
        industries: [{ id: industry, name: 'Fishing' }],
        persons: people.map((_, index) => ({ id: first + index, industryId: industry })),
      });
    };
    await more();
    const caller = await pipeline.account(1_000);
    const made = await pipeline.call(caller, '/v1/schedules', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        name: 'Weekly',
        cron: '0 6 * * 1',
        filter: `industryIds=${industry}`,
      }),
    });
    const { id } = (await made.json()) as { id: string };
    const { page } = await openSignedIn(browser, `${pipeline.url}/#/schedules/${id}`, caller.key);
    const runFor = async (price: string) => {
      await button(page, 'Run now').click();
      await button(page, `Run for up to ${price}`).click();
    };
    const limits = async () => {
      const runs = await pipeline.sql<{ limit: number }[]>`
        select max_credits::integer as limit from batches where account_id = ${caller.accountId} order by id`;
      return runs.map(({ limit }) => limit);
    };
    return { page, caller, id, more, runFor, limits };
  }

  test('to a run is not repeated at another price, but told, and may be asked for again', async () => {
    const { page, id, more, runFor, limits } = await openRun(31);
    await loseResponse(page, `**/v1/schedules/${id}/run`);
    await runFor('34 credits');
    await sayUnreachable(page).waitFor();
    await button(page, 'Cancel').click();
    await pipeline.runUntilIdle();
    await more();
    await runFor('64 credits');
    await sayDone(page).waitFor();
    expect(await limits()).toEqual([34]);
    await button(page, 'Run for up to 64 credits').click();
    await page.waitForURL(/#\/exports\/./);
    expect(await limits()).toEqual([34, 64]);
    await page.context().close();
  });

  test('to a run is one at the price that the page shows by then, when the request was lost too', async () => {
    const { page, id, more, runFor, limits } = await openRun(32);
    const request = `**/v1/schedules/${id}/run`;
    await page.route(request, (route) => route.abort('connectionreset'), { times: 1 });
    await runFor('34 credits');
    await sayUnreachable(page).waitFor();
    await button(page, 'Cancel').click();
    await more();
    await runFor('64 credits');
    await page.waitForURL(/#\/exports\/./);
    expect(await limits()).toEqual([64]);
    await page.context().close();
  });

  test('to a run is repeated after a reload, and told as the earlier one that it shows', async () => {
    const { page, id, runFor, limits } = await openRun(33);
    await loseResponse(page, `**/v1/schedules/${id}/run`);
    await runFor('34 credits');
    await sayUnreachable(page).waitFor();
    await page.reload();
    await runFor('34 credits');
    await page.waitForURL(/#\/exports\/./);
    await page.getByText(/^This run was started .* No other was started\.$/).waitFor();
    expect(await limits()).toEqual([34]);
    await page.context().close();
  });

  test('is not one that refuses: a schedule is sent again with its corrected name', async () => {
    const caller = await pipeline.account(1_000);
    const search = `${pipeline.url}/#/search?filter=gender%3D2&view=schedule`;
    const { page } = await openSignedIn(browser, search, caller.key);
    const name = page.getByLabel('Name', { exact: true });
    await name.fill('n'.repeat(1_000));
    await button(page, 'Save the schedule').click();
    await expect.poll(() => name.getAttribute('aria-invalid')).toBe('true');
    await name.fill('Women');
    await button(page, 'Save the schedule').click();
    await page.waitForURL(/#\/schedules\/./);
    await page.context().close();
  });
});
