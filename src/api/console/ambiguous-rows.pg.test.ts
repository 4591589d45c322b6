/** The page of ambiguous rows: one click or one key chooses a record; choices are charged once, when they are saved. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithBrowser } from '../../../tests/support/browser.ts';
import { openBrowserPipeline } from '../../../tests/support/browser-pipeline.ts';
import { expectAccessible, openSignedIn, runUntil } from '../../../tests/support/console-page.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import type { Caller, Pipeline } from '../../../tests/support/pipeline.ts';
import { must } from '../../core/lib/assert.ts';

const given = ['Anna', 'Bernd', 'Clara', 'Dieter', 'Emma', 'Franz', 'Greta', 'Hugo'];
const family = ['Weber', 'Lorenz', 'Krause', 'Vogt'];
const others = given.flatMap((name, first) =>
  family.map((surname, last) => ({
    id: 1000 + first * family.length + last,
    name,
    surname,
    companyId: 10,
    countryId: 1,
    position: 'Engineer',
  })),
);
/** With them ten people have each name: fewer are not counted for free. */
const namesakes = ['Aurin', 'Belko', 'Corvin', 'Darek', 'Elmor', 'Fendri']
  .flatMap((rare, place) => [
    ...given.map((name) => ({ name, surname: rare })),
    ...(place < 2 ? family.map((surname) => ({ name: rare, surname })) : []),
  ])
  .map((person, at) => ({ id: 2000 + at, ...person }));
/** Two people each, of one name at one company; the first two share a phone. */
const phone = '+49 30 901820';
const twins = ['Quast', 'Zwirner', 'Opitz'].flatMap((surname, index) =>
  [0, 1].map((twin) => {
    const id = 100 + index * 2 + twin;
    const shared = { companyId: 10, countryId: 1, ...(index === 0 ? { phone } : {}) };
    return { id, name: 'Ilka', surname, ...shared };
  }),
);
const straight = given.map((name) => `${name},Weber,Bergkristall AG`);
const ambiguous = ['Quast', 'Zwirner', 'Opitz'].map((name) => `Ilka,${name},Bergkristall AG`);
const list = `First name,Last name,Company\n${[...straight, ...ambiguous].join('\n')}\n`;

let pipeline: Pipeline;
let browser: Browser;
let caller: Caller;
let page: Page;
let wrong: string[];

describeWithBrowser('the page of ambiguous rows', () => {
  beforeAll(async () => {
    ({ pipeline, browser } = await openBrowserPipeline());
    const countries = [{ id: 1, name: 'Germany', iso2: 'DE' }];
    const companies = [{ id: 10, name: 'Bergkristall AG', countryId: 1 }];
    const persons = [...others, ...namesakes, ...twins];
    await importGraph(pipeline.sql, { countries, companies, persons });
    caller = await pipeline.unmeteredAccount(1_000);
    ({ page, wrong } = await openSignedIn(browser, pipeline.url, caller.key));
  }, 120_000);
  afterAll(() => pipeline.close());

  const open = (path: string) => page.goto(`${pipeline.url}/#/batches/${path}`);
  const options = { operation: 'people.enrich', fields: 'id' };
  const credits = async () => 1_000 - ((await pipeline.wallet(caller))?.balance ?? 0);

  test('charges no key press or click, only what is saved, and that once', async () => {
    const id = await pipeline.enrich(caller, list, { ...options, match: 'likely' });
    const before = await credits();
    await open(id);
    await page.getByRole('link', { name: 'Review ambiguous rows' }).click();
    await page.getByRole('heading', { name: 'Row 9', exact: true }).waitFor();
    await page.getByText('Each record you choose costs 1 credit when you save').waitFor();
    expect(await page.getByRole('listitem').filter({ hasText: 'Record 100' }).count()).toBe(2);
    await page.locator('#row-9').getByRole('button', { name: 'Choose 1' }).dblclick();
    // Held down, a key chooses for one row.
    for (const _ of [1, 2, 3]) await page.keyboard.down('1');
    await page.keyboard.up('1');
    await page.getByRole('button', { name: 'Save 2 decisions for 2 credits' }).waitFor();
    await page.keyboard.press('2');
    await page.getByRole('button', { name: 'Save 3 decisions for 3 credits' }).waitFor();
    await expectAccessible(page);
    // All choices can be changed: by click, by key, and back to none.
    await page.locator('#row-9').getByRole('button', { name: 'Choose 2' }).click();
    await page.locator('#row-11').getByRole('button', { name: 'Clear choice' }).click();
    await page.getByRole('button', { name: 'Save 2 decisions for 2 credits' }).waitFor();
    await page.keyboard.press('0');
    const save = page.getByRole('button', { name: 'Save 3 decisions for 2 credits' });
    await save.waitFor();
    await pipeline.runUntilIdle();
    expect((await credits()) - before).toBe(0);
    // A second click on the same button, which may be gone by then.
    const button = must(await save.elementHandle(), 'the button');
    await page.keyboard.press('s');
    await page.keyboard.press('Enter');
    await button.dispatchEvent('click');
    await runUntil(pipeline, page, page.getByText('Matched with record 101.').waitFor());
    await page.getByText('Matched with record 102.').waitFor();
    await page.getByText('None of these. Nothing was charged.').waitFor();
    expect((await credits()) - before).toBe(2);
    await page.reload();
    await page.getByText('Every ambiguous row of this list is decided.').waitFor();
    // Decisions are a batch; the lists stay those that were uploaded.
    await page.getByRole('link', { name: 'Lists', exact: true }).first().click();
    await page.getByText('Retries and decisions, done: 1').waitFor();
    expect(await page.getByRole('row').filter({ hasText: 'decided' }).count()).toBe(0);
    expect(wrong).toEqual([]);
  });

  test('keeps the choices that are not saved when the page changes, and asks before the console is left', async () => {
    const id = await pipeline.enrich(caller, list, { ...options, match: 'likely' });
    await open(id);
    await page.getByRole('link', { name: 'Review ambiguous rows' }).click();
    await page.locator('#row-9').getByRole('button', { name: 'Choose 1' }).click();
    await page.goBack();
    const asked = page.waitForEvent('dialog');
    await page.evaluate('setTimeout(() => location.reload())');
    const dialog = await asked;
    expect(dialog.type()).toBe('beforeunload');
    await dialog.dismiss();
    await page.getByRole('link', { name: 'Review ambiguous rows' }).click();
    await page.getByRole('button', { name: 'Save 1 decision for 1 credit' }).waitFor();
    await page.locator('#row-9').getByRole('button', { name: 'Clear choice' }).click();
    expect(wrong).toEqual([]);
  });

  test('shows no choice as made whose retry was cancelled', async () => {
    const id = await pipeline.enrich(caller, list, { ...options, match: 'likely' });
    await open(`${id}/ambiguous`);
    await page.locator('#row-9').getByRole('button', { name: 'Choose 1' }).click();
    await page.getByRole('button', { name: 'Save 1 decision for 1 credit' }).click();
    const reruns = () =>
      pipeline.sql<{ id: string }[]>`select id from batches where rerun_of = ${id}`;
    await expect.poll(reruns).toHaveLength(1);
    const [made] = await reruns();
    await pipeline.call(caller, `/v1/batches/${made?.id}/cancel`, { method: 'POST' });
    await page.getByText('Not all of your choices could be saved').waitFor();
    expect(await page.getByText('Matched with record').count()).toBe(0);
    await page.reload();
    await page.getByRole('heading', { name: 'Row 9', exact: true }).waitFor();
  });

  test('says what to do with rows whose identifier several people share', async () => {
    const csv = `Phone\n${phone}\n`;
    const id = await pipeline.enrich(caller, csv, options);
    expect((await pipeline.batch(caller, id)).rows.ambiguous).toBe(1);
    await open(id);
    const advice = page.getByText('belongs to several people, so there is no record to choose');
    await advice.waitFor();
    await open(`${id}/ambiguous`);
    await page.getByRole('heading', { name: 'No rows to decide' }).waitFor();
    await advice.waitFor();
    expect(await page.getByText('is decided').count()).toBe(0);
    await expectAccessible(page);
    expect(wrong).toEqual([]);
  });

  test('counts no decided row among those to retry, and links the latest of many decisions', async () => {
    const id = await pipeline.enrich(caller, list, { ...options, match: 'likely' });
    for (const [row, record] of [
      [9, 100],
      [10, null],
      [11, null],
    ]) {
      const decided = await pipeline.call(caller, `/v1/batches/${id}/decisions`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ decisions: [{ row, id: record }] }),
      });
      expect(decided.status).toBe(202);
      await pipeline.runUntilIdle();
    }
    const again = await pipeline.call(caller, `/v1/batches/${id}/rerun`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ outcomes: ['no_match'], hold: true }),
    });
    expect(again.status).toBe(202);
    await pipeline.runUntilIdle();
    await open(id);
    await page.getByText('Latest retries: 2 rows').waitFor();
    const links = page.getByRole('link', { name: /^\d rows?$/ });
    expect(await links.count()).toBe(3);
    await page.getByText('1 earlier').click();
    expect(await links.count()).toBe(4);
    await page.getByRole('button', { name: 'Retry unmatched rows' }).click();
    const dialog = page.getByRole('dialog', { name: 'Retry unmatched rows' });
    // The list counts three ambiguous rows; those that are left are known when the retry is made.
    await dialog.getByRole('button', { name: 'Review the rows' }).waitFor();
    expect(await dialog.textContent()).not.toMatch(/\d/);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(wrong).toEqual([]);
  });

  test('says how many more rows match by name, and for how much', async () => {
    const some = given.map((name) => `${name},Weber,Bergkristall AG,none@list.example`);
    const more = given.map((name) => `${name},Vogt,Bergkristall AG,none@list.example`);
    const csv = `First name,Last name,Company,Email\n${[...some, ...more].join('\n')}\n`;
    const id = await pipeline.upload(caller, csv, { ...options, hold: 'true' });
    await pipeline.runUntilIdle();
    const priced = async () => {
      await page.waitForResponse((response) => response.url().endsWith(`${id}/quote`));
      await pipeline.runUntilIdle();
    };
    const first = priced();
    await open(id);
    await first;
    const option = page.getByRole('checkbox', { name: /^Also match by name/ });
    // Fewer than ten rows match so far: none is promised to be counted.
    await page.getByText('Turn it on to see the price for free.').waitFor();
    const second = priced();
    await option.check();
    await second;
    await page.getByRole('button', { name: 'Start for 16 credits' }).waitFor();
    expect(await option.isChecked()).toBe(true);
    expect(wrong).toEqual([]);
  });

  test('offers to swap the columns of names', async () => {
    const swapped = given.map((name, index) => `${family[index % 4]},${name},Bergkristall AG`);
    const csv = `First name,Last name,Company\n${swapped.join('\n')}\n`;
    const id = await pipeline.upload(caller, csv, { ...options, match: 'likely', hold: 'true' });
    await pipeline.runUntilIdle();
    await open(id);
    await page.getByRole('button', { name: 'Swap the two columns' }).click();
    await page.getByText('Most rows have the family name').waitFor({ state: 'detached' });
    const { mapping } = await pipeline.batch(caller, id);
    expect(mapping).toMatchObject({ person_name: [{ column: 2 }, { column: 1 }] });
    const changed = page.waitForResponse((response) => response.request().method() === 'PATCH');
    await page.getByLabel('Use “Company” as').selectOption('');
    await changed;
    // Another choice leaves them swapped.
    expect((await pipeline.batch(caller, id)).mapping).toEqual({
      person_name: [expect.objectContaining({ column: 2 }), expect.objectContaining({ column: 1 })],
    });
  });
});
