import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildIfStale } from '../../../tests/e2e/compiled-code.ts';
import { describeWithBrowser, startBrowser } from '../../../tests/support/browser.ts';
import { openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';

let pipeline: Pipeline;

beforeAll(async () => {
  await buildIfStale();
  pipeline = await openPipeline();
});
afterAll(() => pipeline.close());

describeWithBrowser('in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  /** A page, and what went wrong on it: errors, requests to other hosts. */
  async function openPage(path: string): Promise<{ page: Page; wrong: string[] }> {
    const page = await browser.newPage();
    const wrong: string[] = [];
    page.on('console', (line) => {
      if (['error', 'warning'].includes(line.type())) wrong.push(line.text());
    });
    page.on('pageerror', (error) => wrong.push(error.message));
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(pipeline.url) && !url.startsWith('data:')) wrong.push(url);
    });
    await page.goto(pipeline.url + path);
    return { page, wrong };
  }

  test('somebody signs in with a key, sees that there is no list yet, and signs out', async () => {
    const caller = await pipeline.account(1234);
    const { page, wrong } = await openPage('/');
    await page.getByRole('radio', { name: 'API key' }).check();
    await page.getByRole('textbox', { name: 'API key' }).fill(caller.key);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'No lists yet' }).waitFor();
    expect(await page.getByText('1,234').isVisible()).toBe(true);
    await page.reload();
    await page.getByRole('heading', { name: 'No lists yet' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    const left = await pipeline.sql`select from sessions`;
    expect(left).toHaveLength(0);
    expect(wrong).toEqual([]);
    await page.close();
  });
});
