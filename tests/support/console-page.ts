/** The web console in a browser, watched for errors. */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Pipeline } from './pipeline.ts';

const require = createRequire(import.meta.url);
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

export interface ConsolePage {
  page: Page;
  /** Errors of the page, warnings, requests to other hosts. Error responses of the API do not count. */
  wrong: string[];
}

/** Opens the console at a path, in its own browser profile. */
export async function openConsole(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<ConsolePage> {
  // Without motion, no animation is in progress when the page is inspected.
  const still = { locale: 'en-GB', reducedMotion: 'reduce' } as const;
  const viewport = { width: 1280, height: 860 };
  const context = await browser.newContext({ ...still, viewport, ...options });
  context.setDefaultTimeout(30_000);
  return openTab(await context.newPage(), url);
}

/** Another tab of the same profile. */
export async function openTab(page: Page, url: string): Promise<ConsolePage> {
  const { origin } = new URL(url);
  const wrong: string[] = [];
  page.on('console', (line) => {
    const isRefusal = line.text().startsWith('Failed to load resource');
    if (['error', 'warning'].includes(line.type()) && !isRefusal) wrong.push(line.text());
  });
  page.on('pageerror', (error) => wrong.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(origin)) wrong.push(request.url());
  });
  await page.goto(url);
  return { page, wrong };
}

/** Opens the console at a path and signs in with an API key; resolves when the page has its session. */
export async function openSignedIn(
  browser: Browser,
  url: string,
  key: string,
  options: BrowserContextOptions = {},
): Promise<ConsolePage> {
  const opened = await openConsole(browser, url, options);
  await signInWithKey(opened.page, key);
  // On a narrow screen the account is behind a menu. The address `/` leads on to the first page a moment later.
  await opened.page.locator('.account').waitFor({ state: 'attached' });
  await opened.page.waitForURL(({ hash }) => !['', '#/'].includes(hash));
  return opened;
}

export async function signInWithKey(page: Page, key: string): Promise<void> {
  await page.getByRole('radio', { name: 'API key' }).check();
  await page.getByRole('textbox', { name: 'API key' }).fill(key);
  await page.keyboard.press('Enter');
}

/**
 * Checks the page against WCAG with axe, in light and dark, and that it fits a screen of 360 pixels without
 * horizontal scrolling.
 */
export async function expectAccessible(page: Page): Promise<void> {
  // Half a megabyte to compile: once for each document.
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    // The schemes differ only in their colours. What passes is not described, which takes most of the time.
    const only = colorScheme === 'dark' ? `runOnly: ['color-contrast'], ` : '';
    const violations = (await page.evaluate(
      `axe.run(document, { ${only}resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, impact, nodes }) =>
        ({ id, impact, nodes: nodes.map(({ html, failureSummary }) => html + ' ' + failureSummary) })))`,
    )) as object[];
    expect(violations).toEqual([]);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  const size = page.viewportSize();
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
  if (size !== null) await page.setViewportSize(size);
}

/** Runs the jobs that come until the page shows what is waited for. */
export async function runUntil<Value>(
  pipeline: Pick<Pipeline, 'runUntilIdle'>,
  page: Page,
  shown: Promise<Value>,
): Promise<Value> {
  let isShown = false;
  const ended = shown.finally(() => {
    isShown = true;
  });
  while (!isShown) {
    await pipeline.runUntilIdle();
    await Promise.race([ended, page.evaluate('new Promise(requestAnimationFrame)')]);
  }
  return ended;
}

/** Chooses a file on the Data page. */
export async function chooseImportFile(page: Page, name: string, text: string): Promise<void> {
  const file = { name, mimeType: 'text/csv', buffer: Buffer.from(text) };
  await page.getByLabel('Files to import').setInputFiles(file);
}

/** The value of this name in the list of facts of a page. */
export function factOf(page: Page, name: string): Locator {
  const fact = page.locator('dl.facts > div', { has: page.getByText(name, { exact: true }) });
  return fact.locator('dd');
}
