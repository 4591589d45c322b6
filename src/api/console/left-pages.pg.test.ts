/** A response that comes when its page was left leads nowhere, and numbers of one page agree. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithBrowser } from '../../../tests/support/browser.ts';
import { openBrowserPipeline } from '../../../tests/support/browser-pipeline.ts';
import { openConsole, openSignedIn, openTab } from '../../../tests/support/console-page.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import type { Pipeline } from '../../../tests/support/pipeline.ts';
import { Signal } from '../../../tests/support/signal.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { createAccount } from '../../core/accounts/accounts.ts';

const search = '/#/search?filter=skills%3DWelding&view=people';

let pipeline: Pipeline;
let browser: Browser;

describeWithBrowser('a page that was left, or stays open', () => {
  beforeAll(async () => {
    ({ pipeline, browser } = await openBrowserPipeline());
    await importGraph(pipeline.sql, {
      persons: crowd(30).map((person) => ({ ...person, skills: 'Welding' })),
    });
  }, 120_000);
  afterAll(() => pipeline.close());

  /** A caller with 100 credits, who may see keys and credits. */
  async function account() {
    const accountId = await createAccount(pipeline.sql, { name: 'Team', credits: 100 });
    return pipeline.keyOf(accountId, 'live', ['search', 'exports', 'account']);
  }

  /** Clicks to take people; the response arrives when the signal is raised. */
  async function takeLate(page: Page): Promise<Signal> {
    const arrive = new Signal();
    const made = new Signal();
    await page.route('**/v1/exports', async (route) => {
      const response = await route.fetch();
      made.raise();
      await arrive.raised;
      await route.fulfill({ response });
    });
    await page.getByRole('button', { name: /^Show up to 25/ }).click();
    await made.raised;
    return arrive;
  }

  test('keeps what is typed on another page when the response to a payment comes', async () => {
    const caller = await account();
    const { page, wrong } = await openSignedIn(browser, pipeline.url + search, caller.key);
    const arrive = await takeLate(page);
    await page.getByRole('link', { name: 'Keys' }).click();
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByLabel('Name').fill('CRM');
    arrive.raise();
    await page.getByText('The export was created.').waitFor();
    expect(await page.getByLabel('Name').inputValue()).toBe('CRM');
    expect(wrong).toEqual([]);
    await page.context().close();
  });

  test('tells of a payment in the mode that was left, and shows no missing export', async () => {
    const who = { email: 'ada@left.example', password: 'correct horse battery' };
    await createAccount(pipeline.sql, { name: 'Ada', credits: 100, ...who });
    const { page } = await openConsole(browser, pipeline.url + search);
    await page.getByLabel('Email address').fill(who.email);
    await page.getByLabel('Password').fill(who.password);
    await page.keyboard.press('Enter');
    const arrive = await takeLate(page);
    await page.getByRole('switch', { name: 'Test mode' }).click();
    await page.locator('.test-strip').waitFor();
    arrive.raise();
    await page.getByText('The export was created. That was in live mode.').waitFor();
    expect(page.url()).toContain('#/search');
    await page.context().close();
  });

  test('shows the days of the service where the clock of the browser is a day behind', async () => {
    const caller = await account();
    const { page } = await openSignedIn(browser, `${pipeline.url}/#/credits`, caller.key);
    await page.clock.setFixedTime(new Date(Date.now() - 86_400_000));
    await page.reload();
    await page.getByText('Added: 100 on').waitFor();
    await page.context().close();
  });

  test('shows the credits that another tab spends, in the menu and on the page', async () => {
    const caller = await account();
    const { page } = await openSignedIn(browser, `${pipeline.url}/#/credits`, caller.key);
    const available = page.getByRole('region', { name: 'Balance', exact: true }).locator('dd');
    await expect.poll(() => available.first().textContent()).toBe('100');
    await page.getByText('Added: 100 on').waitFor();
    const { page: other } = await openTab(await page.context().newPage(), pipeline.url + search);
    await other.getByRole('button', { name: /^Show up to 25/ }).click();
    await other.waitForURL(/#\/exports\/./);
    await pipeline.runUntilIdle();
    await other.reload();
    await expect.poll(() => page.locator('.wallet strong').textContent()).toBe('75');
    await expect.poll(() => available.first().textContent()).toBe('75');
    await page.getByRole('cell', { name: '-25' }).waitFor();
    await page.context().close();
  });
});
