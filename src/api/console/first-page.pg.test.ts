/** The way from the address to the first page. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithBrowser } from '../../../tests/support/browser.ts';
import { openBrowserPipeline } from '../../../tests/support/browser-pipeline.ts';
import { openConsole, openSignedIn } from '../../../tests/support/console-page.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import type { Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { createSignInLink } from '../../core/sessions/sessions.ts';

let pipeline: Pipeline;
let browser: Browser;

/** Goes to another page as soon as the first one is in the document, before its effects have run. */
const changeAddressEarly = `
  addEventListener('DOMContentLoaded', () => {
    const watching = new MutationObserver(() => {
      if (document.querySelector('.account') === null) return;
      watching.disconnect();
      location.hash = '#/credits';
    });
    watching.observe(document, { childList: true, subtree: true });
  });`;

describeWithBrowser('the first page', () => {
  beforeAll(async () => {
    ({ pipeline, browser } = await openBrowserPipeline());
    await importGraph(pipeline.sql, { persons: crowd(3) });
  }, 120_000);
  afterAll(() => pipeline.close());

  test('gives way to the page that is chosen before it is shown', async () => {
    const { accountId } = await pipeline.account(100);
    const { key } = await pipeline.keyOf(accountId, 'live', ['batches', 'account']);
    const { page, wrong } = await openSignedIn(browser, pipeline.url, key);
    await page.addInitScript(changeAddressEarly);
    let letGo = () => {};
    const released = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    await page.route('**/console/session', async (route) => {
      const response = await route.fetch();
      await released;
      await route.fulfill({ response });
    });
    await page.goto(`${pipeline.url}/?again`);
    letGo();
    await page.getByRole('heading', { name: 'Credits', level: 1 }).waitFor();
    expect(new URL(page.url()).hash).toBe('#/credits');
    expect(wrong).toEqual([]);
    await page.context().close();
  });

  test('is that of a link that is pasted into a tab, and leads to a list that is there', async () => {
    const caller = await pipeline.account(100);
    const list = `email\n${crowd(3)
      .map(({ email }) => email)
      .join('\n')}\n`;
    await pipeline.enrich(caller, list, { operation: 'people.enrich', name: 'demo.csv' });
    await pipeline.runUntilIdle();
    const { page, wrong } = await openConsole(browser, pipeline.url);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    const link = await createSignInLink(pipeline.sql, caller.accountId);
    const at = `${pipeline.url}/#/sign-in?link=${link}`;
    await page.goto(at);
    await page.getByRole('heading', { name: 'Welcome' }).waitFor();
    expect(page.url()).not.toContain(link);
    await page.getByRole('link', { name: 'See the results' }).click();
    await page.getByRole('heading', { name: 'demo.csv' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.goto(at);
    await page.getByText('This link has expired or was used before').waitFor();
    expect(wrong).toEqual([]);
    await page.context().close();
  });
});
