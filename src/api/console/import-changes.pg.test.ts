/** Changes of an import on its page: what is imported is what is shown, however late or lost a call is. */
import type { Browser, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithBrowser } from '../../../tests/support/browser.ts';
import { openBrowserPipeline } from '../../../tests/support/browser-pipeline.ts';
import {
  chooseImportFile,
  factOf,
  openSignedIn,
  openTab,
} from '../../../tests/support/console-page.ts';
import type { Caller, Pipeline } from '../../../tests/support/pipeline.ts';
import { accountScopes } from '../../core/keys/keys.ts';
import { startImporting } from '../../jobs/imports/run-imports.ts';
import type { Repeating } from '../../jobs/queue/start-repeating.ts';

const contacts = 'Record ID,First Name,Last Name,Email\n1,Ada,Lark,ada@acme.example\n';
const partners = 'Partner no;Vorname;Nachname;Ort\n17;Ada;Lark;Leeds\n18;Bob;Stone;York\n';

let pipeline: Pipeline;
let browser: Browser;
let operator: Caller;
let worker: Repeating;

describeWithBrowser('the page of an import', () => {
  beforeAll(async () => {
    ({ pipeline, browser } = await openBrowserPipeline());
    const { accountId } = await pipeline.account(100);
    operator = await pipeline.keyOf(accountId, 'live', [...accountScopes, 'admin']);
    worker = startImporting(pipeline.context);
  }, 120_000);
  afterAll(async () => {
    await worker.stop();
    await pipeline.close();
  });

  const openAs = ({ key }: Caller) => openSignedIn(browser, `${pipeline.url}/#/data`, key);

  /** The columns by which the file of this name was read; undefined while it is read. */
  async function columnsOf(file: string): Promise<object | undefined> {
    const [run] = await pipeline.sql<{ columns: object }[]>`
      select found->'mapping'->'columns' as columns from import_runs
      where files::text like ${`%${file}%`} and state = 'ready'`;
    return run?.columns;
  }

  async function countBegun(file: string): Promise<number> {
    const begun = await pipeline.sql`select from import_runs where state in ('importing', 'done')
      and files::text like ${`%${file}%`}`;
    return begun.length;
  }

  /** Holds the next call of this method back until it is let go. */
  async function holdBack(page: Page, method: string) {
    const isOne = (request: Request) =>
      request.method() === method && request.url().includes('/admin/import-runs/');
    const held = page.waitForRequest(isOne);
    let letGo = () => {};
    const released = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    await page.route('**/admin/import-runs/**', async (route) => {
      if (!isOne(route.request())) return route.fallback();
      await released;
      return route.continue();
    });
    return { held, letGo };
  }

  const importButton = (page: Page) => page.getByRole('button', { name: 'Import', exact: true });

  test('imports nothing under a name that is being changed', async () => {
    const { page } = await openAs(operator);
    await chooseImportFile(page, 'Late name.csv', partners.replaceAll('Lark', 'Late'));
    await importButton(page).waitFor();
    const patch = await holdBack(page, 'PATCH');
    await page.getByLabel('Name of the mapping').fill('late-name-changed');
    // The click takes the focus from the field, which saves the name.
    await importButton(page).click();
    await patch.held;
    await page.evaluate("fetch('/v1/me').then((response) => response.text())");
    patch.letGo();
    await expect.poll(() => factOf(page, 'Source').textContent()).toBe('late-name-changed');
    await importButton(page).waitFor();
    expect(await countBegun('Late name')).toBe(0);
    await page.context().close();
  });

  test('keeps each of several columns that are chosen while one is saved', async () => {
    const { page } = await openAs(operator);
    await chooseImportFile(page, 'Two choices.csv', partners);
    await importButton(page).waitFor();
    const patch = await holdBack(page, 'PATCH');
    await page.getByLabel('Use “Ort” as').selectOption({ label: 'Region' });
    await patch.held;
    await page.getByLabel('Use “Nachname” as').selectOption({ label: 'Full name' });
    patch.letGo();
    await expect
      .poll(() => columnsOf('Two choices'))
      .toMatchObject({ region: ['Ort'], full_name: ['Nachname'], given_name: ['Vorname'] });
    expect(await page.getByLabel('Use “Ort” as').inputValue()).toBe('region');
    expect(await page.getByLabel('Use “Nachname” as').inputValue()).toBe('full_name');
    await page.context().close();
  });

  test('imports nothing while another part is being sent', async () => {
    const { page } = await openAs(operator);
    await chooseImportFile(page, 'part-1.csv', contacts.replaceAll('acme', 'part1'));
    await importButton(page).waitFor();
    const post = await holdBack(page, 'POST');
    const add = (part: string) =>
      page.getByLabel('Another part').setInputFiles({
        name: `${part}.csv`,
        mimeType: 'text/csv',
        buffer: Buffer.from(contacts.replaceAll('acme', part)),
      });
    await add('part-2');
    await post.held;
    // A part that is not sent is not left out without a word.
    await add('part-3');
    await page.getByText('Other files are still uploading').waitFor();
    expect(await importButton(page).getAttribute('aria-disabled')).toBe('true');
    post.letGo();
    await page.getByText('part-2.csv').waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await importButton(page).click();
    await page.getByRole('link', { name: /^Show import/ }).waitFor();
    await page.context().close();
  });

  test('imports nothing that another tab has changed since it was shown', async () => {
    const { page } = await openAs(operator);
    await chooseImportFile(page, 'Two tabs.csv', partners.replaceAll('Lark', 'Tabs'));
    await importButton(page).waitFor();
    const { page: other } = await openTab(await page.context().newPage(), page.url());
    // The first tab hears nothing of the other one until it acts.
    let hasActed = false;
    const id = page.url().split('/').at(-1);
    const shown = await page.evaluate(
      `fetch('/admin/import-runs/${id}').then((response) => response.json())`,
    );
    await page.route(`**/admin/import-runs/${id}`, (route) =>
      hasActed ? route.continue() : route.fulfill({ json: shown }),
    );
    await page.route('**/start?*', (route) => {
      hasActed = true;
      return route.continue();
    });
    await other.getByLabel('Use “Ort” as').selectOption({ label: 'Region' });
    await expect.poll(() => columnsOf('Two tabs')).toMatchObject({ region: ['Ort'] });
    await importButton(page).click();
    await page.getByText('This has changed meanwhile').waitFor();
    await expect.poll(() => page.getByLabel('Use “Ort” as').inputValue()).toBe('region');
    expect(await countBegun('Two tabs')).toBe(0);
    await page.context().close();
  });

  test('saves a choice again whose request was lost, and imports then', async () => {
    const { page } = await openAs(operator);
    await chooseImportFile(page, 'Lost choice.csv', partners.replaceAll('Lark', 'Lost'));
    await importButton(page).waitFor();
    let isLost = false;
    await page.route('**/admin/import-runs/*', (route) => {
      if (isLost || route.request().method() !== 'PATCH') return route.continue();
      isLost = true;
      return route.abort('connectionreset');
    });
    await page.getByText('Change source or day').click();
    expect(await page.getByLabel('Day of the data').inputValue()).toBe(
      await factOf(page, 'Data of').textContent(),
    );
    await page.getByLabel('Use “Ort” as').selectOption({ label: 'Region' });
    await page.getByText('We can’t reach the server').waitFor();
    expect(await importButton(page).getAttribute('aria-disabled')).toBe('true');
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => columnsOf('Lost choice')).toMatchObject({ region: ['Ort'] });
    await importButton(page).click();
    await page.getByRole('link', { name: /^Show import/ }).waitFor();
    await page.context().close();
  });
});
