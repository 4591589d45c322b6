/** The page of a held list: how it is read, what its columns hold, its options and its price. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fillTestGraph } from '../../../samples/test-graph/fill-test-graph.ts';
import { describeWithBrowser } from '../../../tests/support/browser.ts';
import { openBrowserPipeline } from '../../../tests/support/browser-pipeline.ts';
import {
  expectAccessible,
  openSignedIn,
  runUntil as runUntilShown,
} from '../../../tests/support/console-page.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import type { Caller, Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { changeOwnedDays } from '../../core/credits/owned.ts';
import { operations } from '../../core/operations.ts';
import { sheetOf, workbookParts, zipOf } from '../../formats/xlsx/xlsx-fixtures.test-suite.ts';

const people = crowd(12);
/** An export with a title above its header, of which each person is there twice. */
const titled = `Leads of the fair\n\nName;Email;Booth;Notes\n${[...people, ...people]
  .map(({ email, name }, index) => `${name};${email};${index % 3};\n`)
  .join('')}`;

let pipeline: Pipeline;
let browser: Browser;
let caller: Caller;
let page: Page;
let wrong: string[];

describeWithBrowser('the page of a held list', () => {
  beforeAll(async () => {
    ({ pipeline, browser } = await openBrowserPipeline());
    await importGraph(pipeline.sql, { persons: people });
    caller = await pipeline.unmeteredAccount(1_000);
    ({ page, wrong } = await openSignedIn(browser, pipeline.url, caller.key));
  }, 120_000);
  afterAll(() => pipeline.close());

  const runUntil = <Value>(shown: Promise<Value>) => runUntilShown(pipeline, page, shown);

  async function upload(name: string, content: string | Buffer): Promise<string> {
    await page.goto(`${pipeline.url}/#/batches/new`);
    const buffer = Buffer.from(content);
    const file = { name, mimeType: 'application/octet-stream', buffer };
    await page.getByLabel('List', { exact: true }).setInputFiles(file);
    await page.getByRole('button', { name: 'Continue' }).click();
    await runUntil(page.getByRole('heading', { name: 'Check your columns' }).waitFor());
    return page.url().split('/').at(-1) ?? '';
  }

  const start = (credits: string) => page.getByRole('button', { name: `Start for ${credits}` });
  const priced = (credits: string) => runUntil(start(credits).waitFor());
  const read = (id: string) => pipeline.batch(caller, id);

  test('saves each option, and shows what charging once per person saves', async () => {
    const id = await upload('fair.csv', titled);
    await priced('12 credits');
    await page.getByText('12 rows repeat a person. You save 12 credits.').waitFor();
    await expectAccessible(page);
    await page.getByLabel('Charge once per person').uncheck();
    await priced('24 credits');
    expect(await read(id)).toMatchObject({ dedupe: false });
    await page.getByLabel('Charge once per person').check();
    await priced('12 credits');
    await page.getByLabel('Skip matches whose name disagrees').check();
    await expect.poll(async () => (await read(id)).require_agreement).toBe(true);
    await priced('12 credits');
    // Neither of these changes the price.
    await page.getByLabel('Name', { exact: true }).fill('Fair in Bern');
    await page.getByLabel('Stop at').fill('7');
    await page.getByRole('radio', { name: 'All fields' }).check();
    await start('up to 7 credits').waitFor();
    await page.getByRole('heading', { name: 'Fair in Bern' }).waitFor();
    expect(await read(id)).toMatchObject({
      name: 'Fair in Bern',
      dedupe: true,
      fields: null,
      credits: { max: 7 },
      quote: { state: 'done', credits: 12 },
    });
    expect(wrong).toEqual([]);
  });

  test('shows the columns that another tab has chosen, beside the price of them', async () => {
    const id = await upload('tabs.csv', titled);
    await priced('12 credits');
    const notes = page.getByLabel('Use “Notes” as');
    expect(await notes.inputValue()).toBe('');
    await pipeline.call(caller, `/v1/batches/${id}`, {
      method: 'PATCH',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ mapping: { phone: [4] } }),
    });
    await runUntil(page.getByText('No row can be matched').waitFor());
    expect(await notes.inputValue()).toBe('phone');
    expect(await page.getByLabel('Use “Email” as').inputValue()).toBe('');
    expect(wrong).toEqual([]);
  });

  test('begins the next list with the columns chosen last', async () => {
    await upload('again.csv', titled);
    expect(await page.getByRole('radio', { name: 'All fields' }).isChecked()).toBe(true);
    await page.getByRole('radio', { name: 'Essentials' }).check();
    const id = await upload('third.csv', titled);
    expect(await page.getByRole('radio', { name: 'Essentials' }).isChecked()).toBe(true);
    expect((await read(id)).fields).toContain('workEmail');
  });

  test('shows one line for each column, identifiers first, and the price in view on any screen', async () => {
    await upload('fair.csv', titled);
    await priced('12 credits');
    const lines = page.locator('.mapping').first().locator('li');
    expect(await lines.locator('strong').allTextContents()).toEqual(['Email', 'Name']);
    expect(await lines.first().textContent()).toContain('p1@list.example · p2@list.example');
    await page.getByText('2 other columns, returned unchanged').click();
    await page.getByLabel('Use “Notes” as').selectOption({ label: 'Company name' });
    await page.getByText('2 other columns, 1 used').waitFor();
    await priced('12 credits');
    for (const size of [
      { width: 1280, height: 860 },
      { width: 390, height: 844 },
    ]) {
      await page.setViewportSize(size);
      const box = await start('12 credits').boundingBox();
      expect(box && box.y + box.height).toBeLessThanOrEqual(size.height);
      const select = await page.getByLabel('Use “Email” as').boundingBox();
      expect(select && select.x + select.width).toBeLessThanOrEqual(size.width);
      // A message hides neither the price nor the buttons.
      const messages = await page.locator('.announcer').boundingBox();
      const bar = await page.locator('.start-bar').boundingBox();
      expect(messages && messages.y + messages.height).toBeLessThanOrEqual(bar?.y ?? 0);
    }
    await expectAccessible(page);
    await page.setViewportSize({ width: 1280, height: 860 });
  });

  test('asks for the price again after a change of the columns, and shows no row as matched meanwhile', async () => {
    const id = await upload('fair.csv', titled);
    await priced('12 credits');
    await page.getByLabel('Use “Email” as').selectOption({ label: 'Don’t use' });
    await page.getByText('Choose at least one column to match on to see').first().waitFor();
    expect(await page.locator('.canonical').count()).toBe(0);
    expect((await read(id)).mapping).toHaveProperty('email');
    await page.getByLabel('Use “Email” as').selectOption({ label: 'Email' });
    await priced('12 credits');
    await page.locator('.canonical').first().waitFor();
    // Each column has still one line.
    expect(await page.locator('.mapping li').count()).toBe(4);
  });

  test('reads the file again with another header row, without another upload', async () => {
    const id = await upload('fair.csv', titled);
    await page.getByText('“Leads of the fair”').waitFor();
    await page.getByRole('button', { name: 'Change file format' }).click();
    await expectAccessible(page);
    const lines = page.getByRole('group', { name: /^First lines of the file/ });
    expect(await lines.getByRole('radio').count()).toBe(11);
    await lines.getByLabel('1 Leads of the fair').check();
    await page.getByRole('button', { name: 'Read again' }).click();
    await runUntil(page.getByText('25 rows', { exact: true }).waitFor());
    expect(await read(id)).toMatchObject({ dialect: { header_row: 1 } });
    // The form stays open, to go on from here.
    await page.getByLabel('3 Name;Email;Booth;Notes').check();
    await page.getByRole('button', { name: 'Read again' }).click();
    await runUntil(page.getByText('24 rows', { exact: true }).waitFor());
    await priced('12 credits');
    expect(await read(id)).toMatchObject({ dialect: { header_row: 3 } });
    expect(await pipeline.sql`select from batches where name = 'fair.csv' and id > ${id}`).toEqual(
      [],
    );
  });

  test('offers a list of each outcome in test mode, for people and for companies', async () => {
    await fillTestGraph(pipeline.context.testSql);
    const tester = await pipeline.keyOf(caller.accountId, 'test');
    const url = `${pipeline.url}/#/batches/new`;
    const { page: own, wrong: errors } = await openSignedIn(browser, url, tester.key);
    await own.getByLabel('What should we add').selectOption({ value: 'companies.logo' });
    await own.getByText('matched-test.example, no-match-test.example').waitFor();
    await own.getByLabel('What should we add').selectOption({ value: 'people.enrich' });
    const testList = own.getByRole('button', { name: 'Use our test list' });
    await own.setViewportSize({ width: 390, height: 844 });
    // Its label is one line.
    expect((await testList.boundingBox())?.height).toBeLessThan(50);
    await own.setViewportSize({ width: 1280, height: 860 });
    await testList.click();
    await expectAccessible(own);
    await own.getByRole('button', { name: 'Continue' }).click();
    const begin = own.getByRole('button', { name: /^Start for/ });
    await runUntilShown(pipeline, own, begin.waitFor());
    await begin.click();
    await runUntilShown(
      pipeline,
      own,
      own.getByRole('heading', { name: 'About this list' }).waitFor(),
    );
    const id = own.url().split('/').at(-1) ?? '';
    expect(await pipeline.batch(tester, id)).toMatchObject({
      live: false,
      rows: { total: 4, matched: 1, no_match: 2, ambiguous: 1 },
      credits: { charged: 0 },
    });
    expect(errors).toEqual([]);
    await own.context().close();
    await page.goto(`${pipeline.url}/#/batches/new`);
    await page.getByRole('button', { name: 'Continue' }).waitFor();
    expect(await page.getByRole('button', { name: 'Use our test list' }).count()).toBe(0);
  });

  test('shows the letters of a file in the order in which they are matched', async () => {
    await upload('turned.csv', 'Email,\u202eNote\n\u202ep1@list.example,\u2067left\n');
    const cells = page.locator('tbody .cell').filter({ hasText: /^(p1@list.example|left)$/ });
    await cells.nth(1).waitFor();
    expect(await page.locator('.samples').first().textContent()).toBe('p1@list.example');
    await page.getByText('1 other column, returned unchanged').click();
    await page.getByLabel('Use “Note” as').waitFor();
  });

  test('does not start a list of which no row can be matched', async () => {
    await upload('empty.csv', 'Email;Notes\nnot an address;x\nneither;y\n');
    await runUntil(page.getByText('No row can be matched').waitFor());
    expect(await start('0 credits').getAttribute('aria-disabled')).toBe('true');
    await expectAccessible(page);
  });

  test('offers to match by name where nothing else can, with the columns as the page shows them', async () => {
    const id = await upload('names.csv', titled);
    await priced('12 credits');
    await page.getByLabel('Use “Email” as').selectOption({ label: 'Don’t use' });
    await page.getByText('nothing to match on').first().waitFor();
    await page.getByRole('button', { name: 'Match by name' }).click();
    await expect.poll(async () => (await read(id)).match).toBe('likely');
    await expect.poll(async () => (await read(id)).mapping).not.toHaveProperty('email');
    await page.getByText('name', { exact: true }).first().waitFor();
    expect(await page.getByLabel('Also match by name').isChecked()).toBe(true);
    await expectAccessible(page);
  });

  test('offers the columns chosen last for the same header', async () => {
    const twice = `Old mail;New mail\n${people.map(({ email }) => `x@old.example;${email}\n`).join('')}`;
    const remembered = page.getByText('New mail as Email', { exact: false });
    const before = await upload('first.csv', twice);
    await runUntil(page.getByRole('button', { name: /^Start for/ }).waitFor());
    expect(await remembered.count()).toBe(0);
    const other = page.getByText('1 other column, returned unchanged');
    if ((await other.count()) > 0) await other.click();
    await page.getByLabel('Use “New mail” as').selectOption({ label: 'Email' });
    await page.getByLabel('Use “Old mail” as').selectOption({ label: 'Don’t use' });
    await expect
      .poll(async () => (await read(before)).mapping)
      .toEqual({ email: [expect.objectContaining({ column: 2, reason: 'chosen' })] });
    await runUntil(page.getByRole('button', { name: /^Start for/ }).waitFor());
    const id = await upload('second.csv', twice);
    const first = (await read(id)).mapping;
    expect(first).not.toMatchObject({ email: [{ column: 2, reason: 'chosen' }] });
    await remembered.waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Use last time’s columns' }).click();
    await expect
      .poll(async () => (await read(id)).mapping)
      .toMatchObject({ email: [{ column: 2, reason: 'chosen' }] });
    await remembered.waitFor({ state: 'hidden' });
    // Another account has chosen nothing.
    const stranger = await pipeline.account(1);
    const theirs = await pipeline.enrich(stranger, twice, {
      operation: 'people.enrich',
      hold: 'true',
    });
    const preview = await pipeline.call(stranger, `/v1/batches/${theirs}/preview`);
    expect(await preview.json()).toMatchObject({ remembered: null });
  });

  test('keeps columns under a name, applies them to another list, and deletes them', async () => {
    await upload('fair.csv', titled);
    await priced('12 credits');
    await page.getByText('Saved mappings').click();
    await page.getByLabel('Save these columns as').fill('Fair');
    await page.getByRole('button', { name: 'Save mapping' }).click();
    await page.getByText('Saved mappings (1)').waitFor();
    await expectAccessible(page);
    const turned = `Email;Mail;Name\n${people.map(({ email, name }) => `${email};;${name}\n`).join('')}`;
    const id = await upload('turned.csv', turned);
    await page.getByLabel('Use “Name” as').selectOption({ label: 'Don’t use' });
    await expect.poll(async () => (await read(id)).mapping).not.toHaveProperty('person_name');
    await page.getByText('Saved mappings (1)').click();
    await page.getByRole('button', { name: 'Apply Fair' }).click();
    await expect
      .poll(async () => (await read(id)).mapping)
      .toMatchObject({ email: [{ column: 1 }], person_name: [{ column: 3 }] });
    await page.getByRole('button', { name: 'Delete Fair' }).click();
    await page.getByText('Saved mappings', { exact: true }).waitFor();
    expect(await pipeline.sql`select from named_mappings`).toEqual([]);
  });

  test('takes rows that are pasted, also below the header of its template', async () => {
    await page.goto(`${pipeline.url}/#/batches/new`);
    await page.getByText('Paste rows, or start from a template').click();
    const link = page.getByRole('link', { name: 'Download a template' });
    const template = decodeURIComponent(
      ((await link.getAttribute('href')) ?? '').split(',', 2)[1] ?? '',
    );
    const [downloaded] = await Promise.all([page.waitForEvent('download'), link.click()]);
    expect(downloaded.suggestedFilename()).toBe('template.csv');
    const [person] = people;
    const { identifiers } = operations['people.enrich'];
    const row = identifiers.map((kind) => (kind === 'email' ? person?.email : '')).join(',');
    await page.getByLabel('Rows', { exact: true }).fill(`${template}${row}\n`);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Continue' }).click();
    await runUntil(page.getByRole('heading', { name: 'Check your columns' }).waitFor());
    const batch = await read(page.url().split('/').at(-1) ?? '');
    expect(Object.keys(batch.mapping).sort()).toEqual(identifiers.toSorted());
    await priced('up to 1 credit');
    expect(await page.getByText('records that your operator has imported').count()).toBe(1);
  });

  test('of an operator leads to the page on which records are imported', async () => {
    const scopes = ['batches', 'admin'] as const;
    const { key } = await pipeline.keyOf(caller.accountId, 'live', [...scopes]);
    const id = await pipeline.upload(caller, 'Email\nnobody@list.example\n', {
      operation: 'people.enrich',
      hold: 'true',
    });
    const { page: operators } = await openSignedIn(browser, `${pipeline.url}/#/batches/${id}`, key);
    const data = operators.locator('#main').getByRole('link', { name: 'Data' });
    await runUntilShown(pipeline, operators, data.waitFor());
    expect(await data.getAttribute('href')).toBe('#/data');
    await operators.context().close();
  });

  test('refuses a file of a header alone with a way out that the page has', async () => {
    await page.goto(`${pipeline.url}/#/batches/new`);
    const file = { name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from('Email\n') };
    await page.getByLabel('List', { exact: true }).setInputFiles(file);
    await page.getByRole('button', { name: 'Continue' }).click();
    const field = page.getByLabel('Header row');
    await runUntil(field.and(page.locator(':focus')).waitFor());
    await page.getByText('If its only row is not a header, set 0.').waitFor();
    expect(await page.getByText('header_row').count()).toBe(0);
    await field.fill('0');
    await page.getByRole('button', { name: 'Continue' }).click();
    await runUntil(page.getByRole('heading', { name: 'a.csv' }).waitFor());
  });

  test('reads another sheet of a workbook, without another upload', async () => {
    const row = (...cells: string[]) =>
      `<row>${cells.map((cell) => `<c t="inlineStr"><is><t>${cell}</t></is></c>`).join('')}</row>`;
    const sheets =
      '<sheet name="Main" sheetId="1" r:id="rId1"/><sheet name="Others" sheetId="2" r:id="rId2"/>';
    const first = row('Email') + people.map(({ email }) => row(String(email))).join('');
    const second =
      row('Mail') +
      people
        .slice(0, 10)
        .map(({ email }) => row(String(email)))
        .join('');
    const parts = { 'xl/worksheets/sheet2.xml': sheetOf(second) };
    await upload('two.xlsx', await zipOf(workbookParts({ rows: first, sheets, parts })));
    await priced('12 credits');
    expect(await page.getByText('Delimiter').count()).toBe(0);
    await page.getByRole('button', { name: 'Change file format' }).click();
    await page.getByLabel('Sheet').selectOption('Others');
    await page.getByRole('button', { name: 'Read again' }).click();
    await priced('10 credits');
  });

  test('starts for nothing a list of people whom the account has paid for', async () => {
    await changeOwnedDays(pipeline.sql, caller.accountId, 90);
    await pipeline.enrich(caller, titled, { operation: 'people.enrich', dedupe: 'true' });
    const id = await upload('again.csv', titled);
    await priced('0 credits');
    await page.getByText('You already have 12 of these').waitFor();
    await start('0 credits').click();
    await runUntil(page.getByRole('heading', { name: 'Results' }).waitFor());
    expect(await read(id)).toMatchObject({ rows: { matched: 12 }, credits: { charged: 0 } });
  });
});
