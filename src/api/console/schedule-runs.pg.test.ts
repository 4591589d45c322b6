/** Runs of a schedule that find no one, as the console shows them. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithBrowser } from '../../../tests/support/browser.ts';
import { openBrowserPipeline } from '../../../tests/support/browser-pipeline.ts';
import { expectAccessible, openSignedIn, runUntil } from '../../../tests/support/console-page.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import type { Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { runDueSchedules } from '../../jobs/schedule/run-due.ts';
import type { ScheduleView } from '../../jobs/schedule/schedule-view.ts';

let pipeline: Pipeline;
let browser: Browser;

describeWithBrowser('runs of a schedule', () => {
  beforeAll(async () => {
    ({ pipeline, browser } = await openBrowserPipeline());
    await importGraph(pipeline.sql, {
      persons: crowd(12).map((one) => ({ ...one, skills: 'Welding' })),
    });
  }, 120_000);
  afterAll(() => pipeline.close());

  test('with nothing new give no file, and do not bury the one that there is', async () => {
    const caller = await pipeline.unmeteredAccount(100);
    const made = await pipeline.call(caller, '/v1/schedules', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        name: 'Nightly',
        cron: '30 2 * * *',
        filter: 'id=1-5000',
        mode: 'new',
      }),
    });
    expect(made.status).toBe(201);
    const { id } = (await made.json()) as ScheduleView;
    for (let run = 1; run <= 3; run++) {
      const days = run * 86_400_000;
      await runDueSchedules(pipeline.context, new Date(Date.now() + days));
      await pipeline.runUntilIdle();
    }
    const { page, wrong } = await openSignedIn(
      browser,
      `${pipeline.url}/#/schedules/${id}`,
      caller.key,
    );
    const runs = page.getByRole('table', { name: 'Runs, latest first' });
    await runs.waitFor();
    expect(await runs.getByText('Completed').count()).toBe(1);
    expect(await runs.getByText('Nothing new').count()).toBe(2);
    expect(await page.getByRole('link', { name: 'Open the export' }).count()).toBe(1);
    await expectAccessible(page);
    // A run that begins while the page is open is shown, too.
    await page.clock.install();
    await page.reload();
    await runs.waitFor();
    await runDueSchedules(pipeline.context, new Date(Date.now() + 4 * 86_400_000));
    await pipeline.runUntilIdle();
    await page.clock.runFor(20_000);
    await expect.poll(() => runs.getByText('Nothing new').count()).toBe(3);
    await page.goto(`${pipeline.url}/#/exports`);
    const summary = page.getByText('3 runs of schedules with nothing new');
    await summary.waitFor();
    const files = page.getByRole('link', { name: /^Nightly/ });
    expect(await files.filter({ visible: true }).count()).toBe(1);
    await summary.click();
    expect(await files.filter({ visible: true }).count()).toBe(4);
    await expectAccessible(page);
    expect(wrong).toEqual([]);
    await page.context().close();
  });

  test('start when they are asked for, once their price is seen', async () => {
    const caller = await pipeline.unmeteredAccount(100);
    const made = await pipeline.call(caller, '/v1/schedules', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ ...{ name: 'Weekly', cron: '0 6 * * 1' }, filter: 'skills=Welding' }),
    });
    const { id, next_run_at } = (await made.json()) as ScheduleView;
    const at = `${pipeline.url}/#/schedules/${id}`;
    const { page, wrong } = await openSignedIn(browser, at, caller.key);
    await page.getByText(/^up to \d+ credits$/).waitFor();
    await page.getByRole('button', { name: 'Run now' }).click();
    const run = page.getByRole('button', { name: /^Run for up to 14 credits$/ });
    await run.waitFor();
    await expectAccessible(page);
    await run.click();
    await page.getByRole('heading', { name: /^Weekly/, level: 1 }).waitFor();
    await runUntil(pipeline, page, page.getByText('Completed').first().waitFor());
    const after = await pipeline.call(caller, `/v1/schedules/${id}`);
    expect(await after.json()).toMatchObject({ next_run_at });
    await page.goto(at);
    await page.getByRole('link', { name: 'Open the export' }).waitFor();
    expect(wrong).toEqual([]);
    await page.context().close();
  });
});
