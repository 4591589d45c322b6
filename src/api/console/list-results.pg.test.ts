/** The page of a list that ran: what was found first, then every row of it. */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithBrowser } from '../../../tests/support/browser.ts';
import { openBrowserPipeline } from '../../../tests/support/browser-pipeline.ts';
import { expectAccessible, openSignedIn, runUntil } from '../../../tests/support/console-page.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import type { Caller, Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd } from '../../../tests/support/small-graph.ts';

/** Twelve people, of whom three have a mobile number; and rows that match no one, or cannot. */
const people = crowd(12).map((person, index) => ({
  ...person,
  email: String(person.email),
  name: `Person${index}`,
  mobile: index < 3 ? `+4420794609${index}0` : '',
}));
const fields = 'id,name,email,mobile,workEmail';
const list = `email,note\n${people.map(({ email }) => `${email},x\n`).join('')}later@list.example,Zürich\nnobody@list.example,x\nno address,x\n`;

let pipeline: Pipeline;
let browser: Browser;
let caller: Caller;
let page: Page;
let wrong: string[];

describeWithBrowser('the page of a list that ran', () => {
  beforeAll(async () => {
    ({ pipeline, browser } = await openBrowserPipeline());
    await importGraph(pipeline.sql, { persons: people });
    caller = await pipeline.unmeteredAccount(1_000);
    ({ page, wrong } = await openSignedIn(browser, pipeline.url, caller.key));
  }, 120_000);
  afterAll(() => pipeline.close());

  const enrich = (more: Record<string, string> = {}, file = list) =>
    pipeline.enrich(caller, file, { operation: 'people.enrich', fields, ...more });

  const open = (id: string) => page.goto(`${pipeline.url}/#/batches/${id}`);
  const rowButton = (row: number) => page.getByRole('button', { name: `Row ${row}`, exact: true });
  const rowNumbers = () =>
    page.getByRole('region', { name: 'Rows of the result' }).getByRole('rowheader');

  test('leads with the share of the matches that have each contact, and a funnel', async () => {
    await open(await enrich());
    const headlines = page.locator('.headlines');
    await headlines.getByText('Mobile').waitFor();
    expect(await headlines.textContent()).toContain('Mobile25% of matches');
    await page.getByText('Matched on: Email 100%.').waitFor();
    await page
      .getByRole('heading', { name: 'From rows to contacts, as shares of all rows' })
      .waitFor();
    const funnel = await page.locator('.funnel li').allTextContents();
    expect(funnel).toEqual(['Rows15 100%', 'Usable14 93.3%', 'Matched12 80%', 'With mobile3 20%']);
    await expectAccessible(page);
  });

  test('tells who made the list to those who may read keys', async () => {
    const made = `${pipeline.url}/#/batches/${await enrich()}`;
    const { key } = await pipeline.keyOf(caller.accountId, 'live', ['batches', 'account']);
    const { page: owners } = await openSignedIn(browser, made, key);
    await owners.getByText(/^by svc_live_/).waitFor();
    await owners.context().close();
  });

  test('shows the letters of a file in the order in which they are matched', async () => {
    const turned = 'email,\u202enote\np1@list.example,\u2067left\n';
    await open(await pipeline.enrich(caller, turned, { operation: 'people.enrich' }));
    await rowButton(1).click();
    await page.locator('.record').getByText('left').waitFor();
    expect(await page.locator('#main').textContent()).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
  });

  test('shows found columns first, rows by outcome and text, and a row with its evidence', async () => {
    await open(await enrich());
    await rowButton(1).waitFor();
    const headers = page
      .getByRole('region', { name: 'Rows of the result' })
      .getByRole('columnheader');
    expect(await headers.allTextContents()).toEqual([
      'Row',
      'Outcome',
      'Name',
      'Email',
      'Phone',
      'Matched on',
      'Your “email”',
    ]);
    // A row that found nothing shows its own cells in their place.
    const missed = page.locator('tr', { has: rowButton(13) }).getByRole('cell');
    expect(await missed.nth(1).textContent()).toBe('later@list.example');
    await rowButton(1).click();
    const record = page.locator('.record');
    expect(await record.textContent()).toContain('Matched onEmail: p1@list.example');
    expect(await record.textContent()).toContain('Given namePerson0');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'No match' }).click();
    await expect.poll(() => rowNumbers().allTextContents()).toEqual(['13', '14']);
    // They were looked up by their email addresses, and matched on nothing.
    const cells = page.locator('tr', { has: rowButton(13) }).getByRole('cell');
    expect(await cells.allTextContents()).toEqual(['No match', '', 'later@list.example']);
    await page.getByRole('searchbox', { name: 'Search in the rows' }).fill('zurich');
    await expect.poll(() => rowNumbers().allTextContents()).toEqual(['13']);
    await page.getByRole('searchbox').fill('nothing like it');
    await page.getByText('No matching rows.').waitFor();
  });

  test('retries unmatched rows only after their price is seen, and merges them into one file', async () => {
    // Not the address of an earlier attempt, which matches from the start.
    const later = `${randomUUID()}@list.example`;
    const id = await enrich({}, list.replace('later@list.example', later));
    await open(id);
    await importGraph(pipeline.sql, { persons: [{ id: 7001, email: later }] });
    const charged = async () =>
      (
        await pipeline.sql`select sum(-amount)::int as credits from ledger_entries
        where account_id = ${caller.accountId} and kind = 'charge'`
      )[0]?.credits;
    const before = await charged();
    await page.getByRole('button', { name: 'Retry unmatched rows' }).click();
    // A row without an identifier does not become better.
    expect(await page.getByRole('checkbox', { name: 'Unusable' }).isChecked()).toBe(false);
    await page.getByRole('button', { name: 'Review 2 rows' }).click();
    await page.getByText('Reading your file…', { exact: true }).waitFor();
    const heading = page.getByRole('heading', { name: 'Check your columns' });
    await runUntil(pipeline, page, heading.waitFor());
    const start = page.getByRole('button', { name: /^Start for up to/ });
    await runUntil(pipeline, page, start.waitFor());
    expect(await charged()).toBe(before);
    await start.click();
    await expect.poll(() => pipeline.queues.waiting.length).toBeGreaterThan(0);
    await pipeline.runUntilIdle();
    await rowButton(13).waitFor();
    expect(await charged()).toBe(before + 1);
    await page.getByRole('link', { name: 'another list' }).click();
    await page.getByLabel('Include the results of retries').waitFor();
    await page
      .locator('tr', { has: rowButton(13) })
      .getByText('Matched')
      .waitFor();
    await page.getByLabel('Format of the file').selectOption('JSON Lines');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(
      /^list people enriched \d{4}-\d\d-\d\d \(with retries\)\.jsonl$/,
    );
    const text = await readFile(await download.path(), 'utf8');
    const rows = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { row: number });
    expect(rows.map(({ row }) => row)).toEqual(Array.from({ length: 15 }, (_, n) => n + 1));
    expect(wrong).toEqual([]);
  });

  test('continues a list that has reached its limit with a higher one', async () => {
    const id = await enrich({ max_credits: '5' });
    await open(id);
    await page.getByText('reached its limit of 5 credits').waitFor();
    await expectAccessible(page);
    await page.getByLabel('New limit in credits').fill('5');
    const raise = page.getByRole('button', { name: 'Raise the limit and continue' });
    expect(await raise.getAttribute('aria-disabled')).toBe('true');
    await page.getByLabel('New limit in credits').fill('8');
    await raise.click();
    // The wake-up follows the commit, so that jobs may come later than the new limit.
    await runUntil(pipeline, page, page.getByText('reached its limit of 8 credits').waitFor());
    await page.getByLabel('New limit in credits').fill('');
    await page.getByRole('button', { name: 'Continue without a limit' }).click();
    await runUntil(pipeline, page, page.getByText('Completed').first().waitFor());
    expect(await pipeline.batch(caller, id)).toMatchObject({
      rows: { matched: 12 },
      credits: { charged: 12 },
    });
  });

  test('shows no result of a list that was cancelled before it ran', async () => {
    const id = await enrich({ hold: 'true' });
    await pipeline.call(caller, `/v1/batches/${id}/cancel`, { method: 'POST' });
    await pipeline.runUntilIdle();
    await open(id);
    await page.getByText('Not processed').first().waitFor();
    expect(await page.getByRole('button', { name: 'Download' }).count()).toBe(0);
  });

  test('downloads nothing of a list that was deleted elsewhere, and says so in words', async () => {
    const id = await enrich();
    await open(id);
    const download = page.getByRole('button', { name: 'Download' });
    await download.waitFor();
    let downloads = 0;
    page.on('download', () => downloads++);
    await pipeline.call(caller, `/v1/batches/${id}`, { method: 'DELETE' });
    await page.getByRole('searchbox', { name: 'Search in the rows' }).fill('Person1');
    await page.getByText('The files are no longer kept. The counts and charges stay.').waitFor();
    await download.click();
    await page.getByText('The files of this list are no longer kept.').waitFor();
    expect(await download.count()).toBe(0);
    expect(downloads).toBe(0);
    expect(wrong).toEqual([]);
  });
});
