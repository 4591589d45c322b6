/**
 * A link to the console, which any page may open in the browser of a person who is signed in, makes no call of its own choice.
 */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithBrowser } from '../../../tests/support/browser.ts';
import { openBrowserPipeline } from '../../../tests/support/browser-pipeline.ts';
import { openSignedIn } from '../../../tests/support/console-page.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import type { Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { scopes } from '../../core/keys/keys.ts';

let pipeline: Pipeline;
let browser: Browser;

describeWithBrowser('a link to the console', () => {
  beforeAll(async () => {
    ({ pipeline, browser } = await openBrowserPipeline());
    await importGraph(pipeline.sql, { persons: crowd(12) });
  }, 120_000);
  afterAll(() => pipeline.close());

  const paid = '../personsearch?companyId=12&limit=5';
  const deeper = '../../v1/personsearch?companyId=12&limit=5#';
  test.each([
    [`/batches/${encodeURIComponent(paid)}`],
    [`/batches/${encodeURIComponent(`${paid}#`)}`],
    [`/batches/${encodeURIComponent(paid.replace('..', '%2e%2e'))}`],
    [`/batches/${encodeURIComponent(paid.replaceAll('/', '\\'))}`],
    [`/batches/${encodeURIComponent(paid)}/ambiguous`],
    [`/exports/${encodeURIComponent(paid)}`],
    [`/schedules/${encodeURIComponent(paid)}`],
    [`/webhooks/${encodeURIComponent(paid)}`],
    [`/data/runs/${encodeURIComponent(deeper)}`],
    [`/data/imports/${encodeURIComponent(deeper)}`],
    [`/search?${new URLSearchParams({ filter: 'companyId=12', schedule: paid })}`],
  ])('with %s in place of an id is none to a paid search', async (link) => {
    const { accountId } = await pipeline.account(1_000);
    const caller = await pipeline.keyOf(accountId, 'live', [...scopes]);
    const { page } = await openSignedIn(browser, pipeline.url, caller.key);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.goto(`${pipeline.url}/?again#${link}`);
    const name = link.startsWith('/search') ? 'Search' : 'Page not found';
    await page.getByRole('heading', { name, exact: true }).waitFor({ timeout: 5_000 });
    await page.waitForLoadState('networkidle');
    await page.context().close();
    expect(asked).not.toContain('/v1/personsearch');
    expect((await pipeline.wallet(caller))?.balance).toBe(1_000);
  });

  test.each([
    ['thousands of conditions', Array.from({ length: 3_000 }, (_, at) => `a${at}=1`).join('&')],
    [
      'a condition of a hundred thousand values',
      `skills=[${Array.from({ length: 100_000 }, (_, at) => `s${at}`).join('|')}]`,
    ],
    ['a value of hundreds of thousands of plus signs', `name=${'+'.repeat(300_000)}`],
  ])('with %s is a page that can still be used', async (_, filter) => {
    const caller = await pipeline.account(0);
    const { page } = await openSignedIn(browser, pipeline.url, caller.key);
    await page.goto(`${pipeline.url}/?again#/search?${new URLSearchParams({ filter })}`);
    await page.getByRole('button', { name: 'Clear' }).click();
    await page
      .getByRole('button', { name: 'Remove condition' })
      .first()
      .waitFor({ state: 'detached' });
    await page.context().close();
  });
});
