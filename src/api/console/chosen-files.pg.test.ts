/** Files that are chosen and dropped: what is sent is what the page shows, and none leads away from it. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { describeWithBrowser } from '../../../tests/support/browser.ts';
import { openBrowserPipeline } from '../../../tests/support/browser-pipeline.ts';
import { openSignedIn, runUntil } from '../../../tests/support/console-page.ts';
import type { Caller, Pipeline } from '../../../tests/support/pipeline.ts';

let pipeline: Pipeline;
let browser: Browser;
let caller: Caller;
let page: Page;

describeWithBrowser('the page of an upload', () => {
  beforeAll(async () => {
    ({ pipeline, browser } = await openBrowserPipeline());
  }, 120_000);
  beforeEach(async () => {
    caller = await pipeline.account(10);
    ({ page } = await openSignedIn(browser, `${pipeline.url}/#/batches/new`, caller.key));
    return () => page.context().close();
  });
  afterAll(() => pipeline.close());

  const continueButton = () => page.getByRole('button', { name: /^(Continue|Try again)$/ });
  const isOff = (name: string) => continueButton().getAttribute(name);

  const choose = (name: string) =>
    page.getByLabel('List', { exact: true }).setInputFiles({
      ...{ name, mimeType: 'text/csv' },
      buffer: Buffer.from('email\nada@acme.example\n'),
    });

  /** Drops files with these names, or a text without any; true when the page has taken or refused them. */
  const drop = async (selector: string, names: readonly string[]): Promise<boolean> => {
    await page.locator(selector).waitFor();
    return page.evaluate(`{
      const dataTransfer = new DataTransfer();
      for (const name of ${JSON.stringify(names)}) {
        dataTransfer.items.add(new File(['email\\nada@acme.example\\n'], name));
      }
      if (dataTransfer.items.length === 0) dataTransfer.setData('text/plain', 'a text');
      const at = document.querySelector(${JSON.stringify(selector)});
      const options = { dataTransfer, bubbles: true, cancelable: true };
      !['dragover', 'drop'].map((type) => at.dispatchEvent(new DragEvent(type, options))).some(Boolean);
    }`);
  };

  test.each([
    ['another file', () => choose('second.csv'), 'second.csv'],
    [
      'another operation',
      () => page.getByLabel('What should we add').selectOption('companies.enrich'),
      'first.csv',
    ],
  ])(
    '%s that is chosen while a file is sent stops it, and is what is sent',
    async (_, change, name) => {
      const sent = page.waitForRequest('**/v1/batches?operation*');
      await page.route('**/v1/batches?operation*', () => {}, { times: 1 });
      await choose('first.csv');
      await continueButton().click();
      await sent;
      expect(await isOff('aria-busy')).toBe('true');
      await change();
      await expect.poll(() => isOff('aria-busy')).toBe('false');
      await continueButton().click();
      await runUntil(pipeline, page, page.getByRole('heading', { name }).waitFor());
      const response = await pipeline.call(caller, '/v1/batches');
      const { data } = (await response.json()) as { data: { name: string; operation: string }[] };
      expect(data).toHaveLength(1);
      expect(data[0]).toMatchObject({ name });
      expect(data[0]?.operation).toBe(name === 'first.csv' ? 'companies.enrich' : 'people.enrich');
    },
  );

  test('an upload that is stopped before it begins is not sent', async () => {
    let letGo = () => {};
    const released = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const isSignedIn = '**/v1/batches?limit=1';
    await page.route(isSignedIn, (route) => released.then(() => route.continue()), { times: 1 });
    const uploads: string[] = [];
    page.on('request', (request) => request.method() === 'POST' && uploads.push(request.url()));
    const asked = page.waitForRequest(isSignedIn);
    await choose('first.csv');
    await continueButton().click();
    await asked;
    await page.getByRole('button', { name: 'Stop the upload' }).click();
    letGo();
    await expect.poll(() => isOff('aria-busy')).toBe('false');
    expect(uploads).toEqual([]);
  });

  test('of several files that are dropped at once none is left out without a word', async () => {
    expect(await drop('.drop', ['one.csv', 'two.csv'])).toBe(true);
    await page.getByRole('alert').getByText('You chose 2 files').waitFor();
    expect(await isOff('aria-disabled')).toBe('true');
    await drop('.drop', ['one.csv']);
    await page.locator('.drop').getByText('one.csv').waitFor();
    expect(await isOff('aria-disabled')).toBe('false');
  });

  test('a file that is dropped beside the field does not take the place of the console', async () => {
    expect(await drop('h1', ['one.csv'])).toBe(true);
    expect(await page.locator('.drop').getByText('one.csv').count()).toBe(0);
    // A text may be dragged into any field.
    expect(await drop('h1', [])).toBe(false);
  });
});
