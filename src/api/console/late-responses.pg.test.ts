/** The console shows the newest state that it was told, however late, lost or mixed up responses and events are. */
import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithBrowser } from '../../../tests/support/browser.ts';
import { openBrowserPipeline } from '../../../tests/support/browser-pipeline.ts';
import { openSignedIn } from '../../../tests/support/console-page.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import type { Caller, Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import type { BatchView } from '../../jobs/batch/batch-view.ts';

const people = crowd(12);
const list = `email,name\n${people.map(({ email, name }) => `${email},${name}\n`).join('')}`;

let pipeline: Pipeline;
let browser: Browser;
let caller: Caller;
let page: Page;

describeWithBrowser('the page of a list or an export', () => {
  beforeAll(async () => {
    ({ pipeline, browser } = await openBrowserPipeline());
    await importGraph(pipeline.sql, { persons: people });
    caller = await pipeline.account(1_000);
    ({ page } = await openSignedIn(browser, pipeline.url, caller.key));
  }, 120_000);
  afterAll(() => pipeline.close());

  const held = () =>
    pipeline.enrich(caller, list, { operation: 'people.enrich', hold: 'true', fields: 'id' });

  const open = (path: string) => page.goto(`${pipeline.url}/?${Math.random()}#${path}`);

  /** Holds the response of the next such call until it is let go. */
  async function holdBack(method: string, path: string) {
    let letGo = () => {};
    const released = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    let tell = (_: BatchView) => {};
    const answered = new Promise<BatchView>((resolve) => {
      tell = resolve;
    });
    let isHeld = false;
    const handler = async (route: Route) => {
      if (isHeld || route.request().method() !== method) return route.fallback();
      isHeld = true;
      const response = await route.fetch();
      tell((await response.json()) as BatchView);
      await released;
      await route.fulfill({ response });
      return undefined;
    };
    await page.route(path, handler);
    return {
      answered,
      /** Lets the response through; resolves when the page has taken it. */
      async release() {
        const arrived = page.waitForResponse(
          (response) =>
            response.request().method() === method && response.url().endsWith(path.slice(2)),
        );
        letGo();
        await (await arrived).finished();
        await settled();
        await page.unroute(path, handler);
      },
    };
  }

  /** Two frames, after which the page has rendered what it was told before. */
  const settled = () =>
    page.evaluate(
      'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))',
    );

  const startButton = () => page.getByRole('button', { name: 'Start for 12 credits' });
  const status = (name: string) => page.locator('.badge').getByText(name, { exact: true }).first();

  async function priced() {
    const id = await held();
    await open(`/batches/${id}`);
    await expect
      .poll(() => pipeline.queues.waiting.map(({ name }) => name))
      .toEqual(['quote-batch']);
    await pipeline.runUntilIdle();
    await startButton().waitFor();
    return id;
  }

  const act = (id: string, action: string) =>
    pipeline.call(caller, `/v1/batches/${id}/${action}`, { method: 'POST' });

  test('keeps the price when the response to its request comes after it', async () => {
    const id = await held();
    const quote = await holdBack('POST', `**/${id}/quote`);
    await open(`/batches/${id}`);
    expect((await quote.answered).quote).toMatchObject({ state: 'running' });
    await pipeline.runUntilIdle();
    await startButton().waitFor();
    await quote.release();
    expect(await startButton().isVisible()).toBe(true);
  });

  test('stays completed when the response to the start comes after the end', async () => {
    const id = await priced();
    const start = await holdBack('POST', `**/${id}/start`);
    await startButton().click();
    expect(await start.answered).toMatchObject({ state: 'queued' });
    await pipeline.runUntilIdle();
    await status('Completed').waitFor();
    await start.release();
    expect(await status('Completed').isVisible()).toBe(true);
    expect(await status('Queued').count()).toBe(0);
  });

  test('says that another tab was first when the refusal comes after the new state', async () => {
    const id = await priced();
    await page.route(`**/${id}/start`, async (route) => {
      await act(id, 'start');
      const refusal = await route.fetch();
      await status('Queued').waitFor();
      await settled();
      await route.fulfill({ response: refusal });
    });
    await startButton().click();
    await page.getByText('This has changed meanwhile').waitFor();
    expect(await status('Queued').isVisible()).toBe(true);
    await page.unrouteAll();
    await act(id, 'cancel');
  });

  test('starts nothing that another tab has changed meanwhile', async () => {
    const id = await priced();
    await page.route('**/events', () => {});
    await open(`/batches/${id}`);
    await startButton().waitFor();
    const change = await pipeline.call(caller, `/v1/batches/${id}`, {
      method: 'PATCH',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ require_agreement: true }),
    });
    expect(change.status).toBe(200);
    await startButton().click();
    await page.getByText('This list was changed in another tab').waitFor();
    await expect
      .poll(() => page.getByLabel('Skip matches whose name disagrees').isChecked())
      .toBe(true);
    expect(await pipeline.batch(caller, id)).toMatchObject({
      state: 'ready',
      credits: { max: null },
    });
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await act(id, 'cancel');
  });

  test('lets nothing be changed that is being started', async () => {
    const id = await priced();
    const option = page.getByLabel('Charge once per person');
    const wasChosen = await option.isChecked();
    let isChosen = !wasChosen;
    await page.route(`**/${id}/start`, async (route) => {
      await option.focus();
      await page.keyboard.press('Space');
      isChosen = await option.isChecked();
      await route.continue();
    });
    await startButton().click();
    await status('Queued').waitFor();
    expect(isChosen).toBe(wasChosen);
    await page.unrouteAll();
    await act(id, 'cancel');
  });

  test('discards nothing that another tab has started meanwhile', async () => {
    const id = await priced();
    await open(`/batches/${id}`);
    // Events and readings bring nothing.
    await page.route('**/events', () => {});
    const draft = { ...(await pipeline.batch(caller, id)), name: 'Started elsewhere' };
    await page.route('**/v1/batches?*', (route) =>
      route.fulfill({ json: { data: [draft], next_cursor: null } }),
    );
    await open('/batches');
    await page.getByRole('button', { name: 'Discard Started elsewhere' }).click();
    await act(id, 'start');
    await page.getByRole('button', { name: 'Discard it' }).click();
    await page
      .getByRole('dialog')
      .getByText('has been started or cancelled in another tab')
      .waitFor();
    expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'queued' });
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await act(id, 'cancel');
  });

  test('stays as another tab has made it when pause, resume and cancel answer late', async () => {
    const id = await priced();
    await act(id, 'start');
    const pause = await holdBack('POST', `**/${id}/pause`);
    await page.getByRole('button', { name: 'Pause' }).click();
    await pause.answered;
    await status('Paused').waitFor();
    // The same button by keyboard, too.
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Resume');
    await act(id, 'resume');
    await status('Queued').waitFor();
    await pause.release();
    expect(await status('Queued').isVisible()).toBe(true);
    await act(id, 'pause');
    await status('Paused').waitFor();
    const resume = await holdBack('POST', `**/${id}/resume`);
    await page.getByRole('button', { name: 'Resume' }).click();
    await resume.answered;
    await act(id, 'cancel');
    await pipeline.runUntilIdle();
    await status('Cancelled').waitFor();
    await resume.release();
    expect(await status('Cancelled').isVisible()).toBe(true);
  });

  test('shows the end of a list whose events are lost, and of which a response is lost', async () => {
    const id = await priced();
    await page.clock.install();
    await page.route('**/events', (route) => route.abort('connectionreset'));
    await open(`/batches/${id}`);
    await startButton().waitFor();
    await page.route(`**/${id}/start`, async (route) => {
      await route.fetch();
      await route.abort('connectionreset');
    });
    await startButton().click();
    await page.getByText('can’t reach the server').first().waitFor();
    await pipeline.runUntilIdle();
    await page.clock.runFor(10_000);
    await status('Completed').waitFor();
    await page.unrouteAll();
  });

  test('shows the end of a list by itself after a proxy has refused for a while, as during an update', async () => {
    const id = await priced();
    const refuse = (route: Route) => route.fulfill({ status: 502, body: '<h1>Bad Gateway</h1>' });
    await page.route('**/events', refuse);
    await open(`/batches/${id}`);
    await startButton().waitFor();
    await act(id, 'start');
    await page.route(`**/batches/${id}`, refuse);
    await page.clock.runFor(10_000);
    await page.getByText('can’t reach the server (502)').first().waitFor();
    await page.unrouteAll();
    await pipeline.runUntilIdle();
    await page.clock.runFor(10_000);
    await status('Completed').waitFor();
    expect(await page.getByText('can’t reach the server').count()).toBe(0);
  });

  test('reads a list again whose open stream brings nothing', async () => {
    const id = await priced();
    // A proxy that holds every event back.
    await page.route('**/events', () => {});
    await open(`/batches/${id}`);
    await startButton().waitFor();
    await act(id, 'start');
    await pipeline.runUntilIdle();
    await page.clock.runFor(10_000);
    await status('Completed').waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  test('takes events in any order, and a first reading that is older than they are', async () => {
    const id = await priced();
    const views: BatchView[] = [await pipeline.batch(caller, id)];
    for (const action of ['start', 'pause', 'resume']) {
      views.push((await (await act(id, action)).json()) as BatchView);
    }
    const [, , paused, queued] = views;
    const body = [queued, paused, ...views]
      .map((view) => `event: batch\ndata: ${JSON.stringify(view)}\n\n`)
      .join('');
    await page.route('**/events', (route) =>
      route.fulfill({ contentType: 'text/event-stream', body }),
    );
    // The reading itself is that of the held list.
    await page.route(`**/v1/batches/${id}`, (route) => route.fulfill({ json: views[0] }));
    await open(`/batches/${id}`);
    await status('Queued').waitFor();
    await settled();
    expect(await status('Queued').isVisible()).toBe(true);
    await page.unrouteAll();
    await act(id, 'cancel');
  });

  test('shows rows of a list that runs faster than they are read', async () => {
    const id = await pipeline.enrich(caller, list, { operation: 'people.enrich', fields: 'id' });
    await pipeline.runUntilIdle();
    let view = { ...(await pipeline.batch(caller, id)), state: 'running', finished_at: null };
    const next = () => {
      const rows = { ...view.rows, total: 1_000_000, processed: view.rows.processed + 1 };
      view = { ...view, rows, revision: view.revision + 1 };
      return JSON.stringify(view);
    };
    await page.route(`**/v1/batches/${id}`, (route) => route.fulfill({ body: next() }));
    let events = 0;
    await page.route('**/events', (route) => {
      events++;
      const body = `retry: 1\nevent: batch\ndata: ${next()}\n\n`;
      return route.fulfill({ contentType: 'text/event-stream', body });
    });
    await page.route('**/results?*', async (route) => {
      const before = events;
      await expect.poll(() => events, { interval: 1 }).toBeGreaterThan(before + 3);
      // It has been given up when the page reads anew.
      await route.continue().catch(() => {});
    });
    await open(`/batches/${id}`);
    await page.getByRole('button', { name: 'Row 12', exact: true }).waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  test('tells that nothing is left of the credits when a list pauses for them, and who adds some', async () => {
    const poor = await pipeline.account(5);
    const id = await pipeline.upload(poor, list, { operation: 'people.enrich', fields: 'id' });
    const opened = await openSignedIn(browser, `${pipeline.url}/#/batches/${id}`, poor.key);
    const balance = opened.page.locator('.wallet strong');
    await expect.poll(() => balance.textContent()).toBe('5');
    await pipeline.runUntilIdle();
    await opened.page.getByText('you’re out of credits').waitFor();
    await opened.page.getByText('Ask the administrator of this service').waitFor();
    await expect.poll(() => balance.textContent(), { timeout: 3_000 }).toBe('0');
    await opened.page.context().close();
  });

  test('keeps a finished export finished when its start answers late', async () => {
    const id = await pipeline.makeExport(caller, { filter: 'gender=*', hold: true });
    await pipeline.runUntilIdle();
    await open(`/exports/${id}`);
    const start = await holdBack('POST', `**/${id}/start`);
    await page.getByRole('button', { name: /^Start/ }).click();
    await start.answered;
    await pipeline.runUntilIdle();
    await status('Completed').waitFor();
    await start.release();
    expect(await status('Completed').isVisible()).toBe(true);
  });
});
