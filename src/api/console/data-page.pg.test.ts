/** The Data page: files are dropped, looked at, counted, imported and undone; only an operator sees it. */
import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithBrowser } from '../../../tests/support/browser.ts';
import { openBrowserPipeline } from '../../../tests/support/browser-pipeline.ts';
import {
  chooseImportFile,
  expectAccessible,
  factOf,
  openSignedIn,
  openTab,
} from '../../../tests/support/console-page.ts';
import type { Caller, Pipeline } from '../../../tests/support/pipeline.ts';
import { accountScopes } from '../../core/keys/keys.ts';
import { must } from '../../core/lib/assert.ts';
import { startImporting } from '../../jobs/imports/run-imports.ts';
import type { Repeating } from '../../jobs/queue/start-repeating.ts';

const contacts = [
  'Record ID,First Name,Last Name,Email,Job Title,Unsubscribed from all email',
  '1,Ada,Lark,ada@acme.example,Engineer,',
  '2,Eve,Gone,eve@acme.example,CEO,true',
  '3,Too,Wide,wide@acme.example,CEO,,more',
].join('\n');
const partners = 'Partner no;Vorname;Nachname;Ort\n17;Ada;Lark;Leeds\n18;Bob;Stone;York\n';

let pipeline: Pipeline;
let browser: Browser;
let operator: Caller;
let worker: Repeating;

describeWithBrowser('the Data page', () => {
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

  const openAs = ({ key }: Caller, width = 1280) =>
    openSignedIn(browser, `${pipeline.url}/#/data`, key, { viewport: { width, height: 860 } });

  /** The text before the number that names the first record: of a card, it says which number that is. */
  const labelOfCard = (page: Page) =>
    page.evaluate(
      `getComputedStyle(document.querySelector('[aria-label="First records"] tbody th'), '::before').content`,
    );
  const picture = async (page: Page, name: string) => {
    const folder = process.env.DATA_PICTURES;
    if (folder !== undefined)
      await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
  };
  const countPeople = async () => {
    const [row] = await pipeline.sql`select count(*)::int as people from persons`;
    return row?.people;
  };

  test.each([
    ['is lost', {}],
    ['is the page of a proxy', { status: 200, body: '<h1>Sign in to the network</h1>' }],
  ])('makes one import of files that are sent again after an answer %s', async (_, lost) => {
    const { page } = await openAs(operator);
    await page.route(
      '**/admin/import-runs/*/files?*',
      async (route) => {
        await route.fetch();
        await ('status' in lost ? route.fulfill(lost) : route.abort('connectionreset'));
      },
      { times: 1 },
    );
    const file = (name: string) => ({ name, mimeType: 'text/csv', buffer: Buffer.from(contacts) });
    await page.getByLabel('Files to import').setInputFiles([file('part1.csv'), file('part2.csv')]);
    await page.getByText('The connection was lost during the upload').waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.waitForURL(/#\/data\/runs\/./);
    const runs = await pipeline.sql<{ id: string; files: number }[]>`
      select id, jsonb_array_length(files) as files from import_runs where finished_at is null`;
    expect(runs).toEqual([{ id: runs[0]?.id, files: 2 }]);
    await pipeline.call(operator, `/admin/import-runs/${runs[0]?.id}/cancel`, { method: 'POST' });
    await page.context().close();
  });

  test.each([1280, 390])(
    'takes a CRM export from a drop to the graph and back, %s pixels wide',
    async (width) => {
      const { page, wrong } = await openAs(operator, width);
      await page.getByRole('heading', { name: 'Data', exact: true }).waitFor();
      await page.getByText('To enrich a list, use Lists.').waitFor();
      await picture(page, `empty-${width}`);
      await chooseImportFile(page, 'contacts.csv', contacts);
      await page.getByRole('heading', { name: 'What would change' }).waitFor();
      expect(await factOf(page, 'Source').textContent()).toBe('HubSpot');
      await page.getByRole('cell', { name: 'ada@acme.example' }).waitFor();
      expect(await page.getByRole('columnheader').allTextContents()).toEqual([
        'Line',
        'Becomes',
        'Given name',
        'Surname',
        'Work email',
        'Job title',
        'Company',
      ]);
      expect(await labelOfCard(page)).toBe(width < 1000 ? '"Line "' : 'none');
      await page.getByText('Contacts find their company by its id or domain.').waitFor();
      await page.getByText('1 rejected row').click();
      expect(await factOf(page, 'New').textContent()).toBe('1');
      expect(await factOf(page, 'Opted out').textContent()).toBe('1');
      expect(await countPeople()).toBe(0);
      await expectAccessible(page);
      await picture(page, `review-${width}`);
      await page.getByRole('button', { name: 'Import', exact: true }).click();
      await page.getByText('The import is done.').waitFor();
      await page.getByRole('link', { name: /^Show import/ }).waitFor();
      expect(await countPeople()).toBe(1);
      await page.getByRole('link', { name: 'Enrich a list' }).waitFor();
      await expectAccessible(page);
      await picture(page, `done-${width}`);
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page
          .getByText('1 rejected row')
          .click()
          .then(() => page.getByRole('link', { name: /^Download them/ }).click()),
      ]);
      expect(download.suggestedFilename()).toBe('contacts.csv.rejects.jsonl');
      await page.getByRole('link', { name: /^Show import/ }).click();
      await page.getByText(/^Removes 1 record that it added/).waitFor();
      expect(await page.locator('.toast').count()).toBe(0);
      await expectAccessible(page);
      await picture(page, `import-${width}`);
      await page.getByRole('button', { name: 'Undo the import' }).click();
      const dialog = page.getByRole('dialog', { name: 'Undo the import of contacts.csv?' });
      const { y, height } = must(await dialog.boundingBox(), 'box');
      expect(Math.abs(y - (860 - height) / 2)).toBeLessThan(2);
      await picture(page, `undo-${width}`);
      await page.getByRole('button', { name: 'Undo it' }).click();
      await page.locator('.toast', { hasText: 'The import is undone.' }).waitFor();
      expect(await countPeople()).toBe(0);
      await page.getByRole('link', { name: 'Import another file' }).click();
      await page.getByRole('table', { name: 'History of imports' }).waitFor();
      await page.getByText('Undone').first().waitFor();
      await expectAccessible(page);
      await picture(page, `history-${width}`);
      expect(wrong).toEqual([]);
      await page.context().close();
    },
    60_000,
  );

  test.each([1280, 390])(
    'shows and changes the guessed mapping of any other file, %s pixels wide',
    async (width) => {
      const { page, wrong } = await openAs(operator, width);
      await chooseImportFile(page, `Partner list ${width}.csv`, partners);
      const column = page.getByLabel('Use “Ort” as');
      await column.waitFor();
      expect(await page.getByLabel('Use “Vorname” as').inputValue()).toBe('given_name');
      await page.getByRole('cell', { name: 'Lark' }).waitFor();
      const changed = page.waitForResponse((response) => response.request().method() === 'PATCH');
      await column.selectOption({ label: 'Region' });
      expect((await changed).status()).toBe(200);
      await page.getByRole('columnheader', { name: 'Line' }).waitFor();
      await expect.poll(() => column.inputValue()).toBe('region');
      const name = page.getByLabel('Name of the mapping');
      await name.fill('Not a name');
      await name.blur();
      await page
        .getByText(/not a valid mapping name/)
        .first()
        .waitFor();
      await expectAccessible(page);
      await picture(page, `mapping-${width}`);
      await name.fill(`partners-${width}`);
      await name.blur();
      await expect.poll(() => factOf(page, 'Source').textContent()).toBe(`partners-${width}`);
      await page.getByRole('button', { name: 'Discard' }).click();
      await page.getByRole('button', { name: 'Discard it' }).click();
      await page.getByRole('heading', { name: 'Data', exact: true }).waitFor();
      expect(wrong).toEqual([]);
      await page.context().close();
    },
  );

  test('says what is wrong with a file, and goes on after the page was left', async () => {
    const { page } = await openAs(operator);
    await chooseImportFile(page, 'colours.csv', 'Colour,Weight\nred,3\n');
    await page.getByText(/No column of this file could be read/).waitFor();
    await expectAccessible(page);
    await picture(page, 'problem');
    for (const name of ['Import', 'Count changes', 'Add another part'])
      expect(await page.getByRole('button', { name, exact: true }).count()).toBe(0);
    expect(await page.getByText('Change source or day').count()).toBe(0);
    await page.goto(`${pipeline.url}/#/data`);
    await page.getByRole('link', { name: 'colours.csv' }).waitFor();
    await page.getByText('Needs attention').waitFor();
    await picture(page, 'under-way');
    await page.context().close();
  });

  test('ends its messages with the session', async () => {
    const { page } = await openAs(operator);
    await chooseImportFile(page, 'signed-out.csv', contacts);
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.locator('.toast').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('radio', { name: 'API key' }).waitFor();
    expect(await page.locator('.toast').count()).toBe(0);
    await page.context().close();
  });

  test('waits for a slow reading of a run, and drops one that is older than an action', async () => {
    const { page } = await openAs(operator);
    await chooseImportFile(page, 'slow.csv', contacts.replaceAll('acme', 'slow'));
    const start = page.getByRole('button', { name: 'Import', exact: true });
    await start.waitFor();
    await page.clock.install();
    await page.reload();
    await start.waitFor();
    const path = `/admin/import-runs/${page.url().split('/').at(-1)}`;
    const old = await page.evaluate(`fetch('${path}').then((response) => response.text())`);
    const readings: Route[] = [];
    await page.route(`**${path}`, (route) => {
      readings.push(route);
    });
    await page.clock.runFor(6_000);
    await expect.poll(() => readings.length).toBe(1);
    await page.clock.runFor(20_000);
    // What the page has asked for before is known by the response to this.
    await page.evaluate("fetch('/v1/me').then((response) => response.text())");
    expect(readings).toHaveLength(1);
    await start.click();
    await start.waitFor({ state: 'detached' });
    // It has been given up.
    await readings[0]?.fulfill({ json: JSON.parse(String(old)) }).catch(() => {});
    await page.clock.runFor(100);
    expect(await start.count()).toBe(0);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.clock.runFor(6_000);
    await page.getByRole('link', { name: /^Show import/ }).waitFor();
    await page.context().close();
  });

  test('tells what builds on an import before it is undone, also when that came later', async () => {
    const { page, wrong } = await openAs(operator);
    const take = async (on: Page, file: string, text: string) => {
      await chooseImportFile(on, file, text);
      await on.getByRole('button', { name: 'Import', exact: true }).click();
      await on.getByRole('link', { name: /^Show import/ }).waitFor();
    };
    await take(page, 'first.csv', contacts.replaceAll('acme', 'first'));
    await page.getByRole('link', { name: /^Show import/ }).click();
    await page.getByRole('button', { name: 'Undo the import' }).click();
    const other = await openTab(await page.context().newPage(), `${pipeline.url}/#/data`);
    await take(
      other.page,
      'later.csv',
      contacts.replaceAll('acme', 'first').replace('Engineer', 'CEO'),
    );
    await page.getByRole('button', { name: 'Undo it' }).click();
    await page.getByRole('dialog').getByText('1 later import builds on it').waitFor();
    await page
      .getByRole('dialog')
      .getByRole('link', { name: /^import \d+$/ })
      .waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Undo 2 imports' }).click();
    await page.getByText('The import is undone.').first().waitFor();
    expect(wrong).toEqual([]);
    await page.context().close();
  });

  test('is refused to the key of a team', async () => {
    const team = await pipeline.keyOf(operator.accountId, 'live', [...accountScopes]);
    const { page } = await openAs(team);
    await page.getByRole('heading', { name: 'You don’t have access to this page' }).waitFor();
    expect(await page.getByRole('link', { name: 'Data', exact: true }).count()).toBe(0);
    await page.context().close();
  });

  test('is the first page of a key that opens no other, and the first step of who may do both', async () => {
    const { accountId } = await pipeline.account(100);
    const { key } = await pipeline.keyOf(accountId, 'live', ['admin']);
    const { page } = await openSignedIn(browser, pipeline.url, key);
    await page.getByRole('heading', { name: 'Data', exact: true }).waitFor();
    await page.context().close();
    const { page: other } = await openSignedIn(browser, pipeline.url, operator.key);
    await other.getByRole('heading', { name: 'No lists yet' }).waitFor();
    await other.getByRole('link', { name: 'Import files' }).click();
    await other.getByRole('heading', { name: 'Data', exact: true }).waitFor();
    await other.context().close();
  });
});
