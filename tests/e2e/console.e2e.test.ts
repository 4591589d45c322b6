/**
 * The web console on the whole service: a user uploads a messy list, corrects how it is read, sees the price,
 * runs it and downloads the result. With SCREENSHOTS set to a folder, saves screenshots there.
 */
import { mkdtempSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'csv-parse/sync';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startChromium } from '../../bench/browser.ts';
import { must } from '../../src/core/lib/assert.ts';
import { describeWithBrowser } from '../support/browser.ts';
import { type ConsolePage, expectAccessible, openConsole } from '../support/console-page.ts';
import { buildIfStale } from './compiled-code.ts';
import { withSql } from './list.ts';
import { runJson } from './processes.ts';
import { type Service, startService } from './service.ts';

const firstPageBytesMax = 100_000;
const pictures = process.env.SCREENSHOTS;
const caseMs = 120_000;

const root = mkdtempSync(path.join(tmpdir(), 'enrich-console-'));
const email = 'ada@northwind.example';
let service: Service;
let browser: Browser;
let password: string;

interface Person {
  id: number;
  name: string;
  surname: string;
  workEmail: string;
}

/** A row of the messy list, and the person it refers to. */
interface Row {
  cells: string[];
  personId: string;
}

const header = ['Name (Nachname, Vorname)', 'E-Mail alt', 'Kontakt', 'Land?', 'Bemerkung'];

describeWithBrowser('a user with a messy list', () => {
  let opened: ConsolePage;
  let page: Page;
  let rows: Row[];

  beforeAll(async () => {
    await buildIfStale();
    service = await startService(path.join(root, 'data'));
    const about = (...words: string[]) => [...words, '--data-dir', service.dataDir];
    await runJson(about('generate', '--persons', '5000', '--companies', '1000', '--seed', '1'));
    const who = ['--name', 'Northwind Sales', '--email', email, '--credits', '25000', '--sign-in'];
    ({ password } = await runJson<{ password: string }>(about('account', 'create', ...who)));
    rows = await writeMessyList(path.join(root, 'messe-kontakte.csv'));
    browser = await startChromium();
    opened = await openConsole(browser, service.up.url, { viewport: { width: 1280, height: 860 } });
    page = opened.page;
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await service?.[Symbol.asyncDispose]();
    await rm(root, { recursive: true, force: true });
  }, 60_000);

  it('signs in on a page that is small and complete with its first response', async () => {
    const first = await watchFirstPage();
    expect(first.bytes).toBeLessThan(firstPageBytesMax);
    // Anything that a script requests only when it runs costs another round trip.
    expect(first.late).toEqual([]);
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Password').fill(password);
    await expectAccessible(page);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'No lists yet' }).waitFor();
  });

  it(
    'sees how it is read, corrects the columns and sees the price',
    async () => {
      await page.getByRole('link', { name: 'Upload a list' }).click();
      await page.getByRole('heading', { name: 'Upload a list' }).waitFor();
      const file = path.join(root, 'messe-kontakte.csv');
      await page.getByLabel('List', { exact: true }).setInputFiles(file);
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByRole('heading', { name: 'Check your columns' }).waitFor();
      await page.getByText('WINDOWS-1252').waitFor();
      await page.getByText(/^Semicolon/).waitFor();
      // The header names an outdated column, which matches no one.
      const old = page.getByLabel('Use “E-Mail alt” as');
      const right = page.getByLabel('Use “Kontakt” as');
      expect(await old.inputValue()).toBe('email');
      await old.selectOption({ label: 'Don’t use' });
      await page.getByText(/other columns?, returned unchanged/).click();
      await right.selectOption({ label: 'Email' });
      const meant = rows.filter(({ personId }) => personId !== '').length;
      await page.getByRole('button', { name: `Start for ${meant} credits` }).waitFor();
      await page.getByRole('cell', { name: must(rows[0], 'row').cells[0] ?? '' }).waitFor();
      // With the ids of the people.
      await page.getByRole('radio', { name: 'All fields' }).check();
      await page.getByRole('button', { name: `Start for ${meant} credits` }).waitFor();
      await page.evaluate('scrollTo(0, 0)');
      await picture('review');
      await expectAccessible(page);
    },
    caseMs,
  );

  it(
    'runs it, and gets every row back with the right person',
    async () => {
      await page.getByRole('button', { name: /^Start for/ }).click();
      await page.getByRole('heading', { name: 'Results' }).waitFor();
      await page.getByRole('heading', { name: 'About this list' }).waitFor();
      await page.getByRole('button', { name: 'Row 1', exact: true }).waitFor();
      await picture('results');
      await expectAccessible(page);
      await page.getByLabel('Format of the file').selectOption('CSV for spreadsheets');
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Download' }).click(),
      ]);
      expect(download.suggestedFilename()).toMatch(
        /^messe-kontakte enriched \d{4}-\d\d-\d\d\.csv$/,
      );
      const text = await readFile(await download.path(), 'utf8');
      const records = parse(text, { delimiter: ';', bom: true }) as string[][];
      const names = must(records[0], 'header');
      expect(names.slice(0, header.length)).toEqual(header);
      const found = records.slice(1).map((cells) => ({
        cells: cells.slice(0, header.length),
        personId: cells[names.indexOf('person.id')],
      }));
      expect(found).toEqual(rows.map((row) => ({ ...row, cells: row.cells.map(safe) })));
    },
    caseMs,
  );

  it('reruns what did not match, and finds both lists', async () => {
    await page.getByRole('button', { name: 'Retry unmatched rows' }).click();
    await page.getByRole('dialog', { name: 'Retry unmatched rows' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Review 2 rows' }).click();
    // Two strangers, who may be known by now; nothing runs before the price is seen.
    await page.getByText('2 rows', { exact: true }).waitFor();
    await page.getByRole('button', { name: /^Start for/ }).click();
    await page.getByRole('heading', { name: 'Results' }).waitFor();
    await page.getByRole('link', { name: 'Lists' }).first().click();
    await page.getByRole('table', { name: 'Lists, newest first' }).waitFor();
    expect(await page.getByRole('link', { name: /messe-kontakte/ }).count()).toBe(2);
    await expectAccessible(page);
  });

  it(
    'searches, exports the results and schedules the export every night',
    async () => {
      await page.goto(`${service.up.url}/#/search?filter=gender%3D2%26workEmail%3D*`);
      const gives = page.getByLabel('What the search would give');
      await gives.getByText(/^about [\d,]+ people$/).waitFor();
      await picture('search');
      await page.getByRole('link', { name: 'Export', exact: true }).click();
      await page.getByLabel('Max people').fill('20');
      await page.getByRole('button', { name: 'Prepare the export' }).click();
      await page.getByRole('button', { name: 'Start for about 20 credits' }).click();
      await page.getByRole('heading', { name: 'Results' }).waitFor();
      await picture('export');
      await page.goto(`${service.up.url}/#/search?filter=gender%3D2%26workEmail%3D*&view=schedule`);
      await page.getByLabel('Name').fill('New leads');
      await page.locator('.next-runs time').nth(4).waitFor();
      await picture('schedule');
      await page.getByRole('button', { name: 'Save the schedule' }).click();
      await page.getByText('It has not run yet').waitFor();
    },
    caseMs,
  );

  it('creates a working key, and sees the total cost', async () => {
    await openPage('Keys');
    await page.getByRole('button', { name: 'New key' }).first().click();
    await page.getByLabel('Name').fill('CRM import');
    await page.getByRole('button', { name: 'Make the key' }).click();
    const key = await page.locator('.secret').textContent();
    const headers = { Authorization: `Bearer ${key}` };
    expect((await fetch(`${service.up.url}/v1/me`, { headers })).status).toBe(200);
    await page.getByRole('button', { name: 'I’ve saved it' }).click();
    await page.getByRole('rowheader', { name: /CRM import/ }).waitFor();
    await picture('keys');
    await openPage('Credits');
    await page.getByRole('table', { name: /^What moved the wallet/ }).waitFor();
    await picture('credits');
    await openPage('Webhooks');
    await page.getByRole('heading', { name: 'Webhooks', exact: true }).waitFor();
    await openPage('Lists');
  });

  it('does the same for free in test mode, where no live list is visible', async () => {
    await page.getByRole('switch', { name: 'Test mode' }).click();
    await page.getByRole('heading', { name: 'No lists yet' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('switch', { name: 'Test mode' }).click();
    await page.getByRole('table', { name: 'Lists, newest first' }).waitFor();
    expect(opened.wrong).toEqual([]);
  });

  /** Reloads the first page; returns its bytes, and the requests that came too late to be fetched together. */
  async function watchFirstPage(): Promise<{ bytes: number; late: string[] }> {
    const sizes: Promise<number>[] = [];
    const urls: string[] = [];
    let html = '';
    page.on('requestfinished', (request) => {
      urls.push(new URL(request.url()).pathname);
      sizes.push(request.sizes().then((size) => size.responseBodySize + size.responseHeadersSize));
    });
    const response = await page.goto(service.up.url, { waitUntil: 'networkidle' });
    html = (await response?.text()) ?? '';
    page.removeAllListeners('requestfinished');
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    const known = ['/', '/console/session'];
    return { bytes, late: urls.filter((url) => !known.includes(url) && !html.includes(url)) };
  }

  const openPage = (name: string) =>
    page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click();

  /** Saves a screenshot of the page if requested. */
  async function picture(name: string): Promise<void> {
    if (pictures === undefined) return;
    await page.screenshot({ path: path.join(pictures, `console-${name}.png`) });
  }
});

/** A cell that a spreadsheet would run as a formula comes back with an apostrophe prefix. */
function safe(cell: string): string {
  return cell.startsWith('=') ? `'${cell}` : cell;
}

/**
 * Writes a list in Windows-1252 with semicolons: people of the graph by work e-mail in a column that no header
 * word names, unmatchable people, an unusable row, and a cell that a spreadsheet would run as a formula.
 */
async function writeMessyList(file: string): Promise<Row[]> {
  const people = await withSql(
    service,
    (sql) => sql<Person[]>`
      select id, name, surname, work_email from persons
      where work_email <> '' and name || surname ~ '^[A-Za-zÀ-ÿ -]+$'
        and (select count(*) from persons other where other.work_email = persons.work_email
          or other.email = persons.work_email) = 1
      order by id limit 30`,
  );
  const known = people.map(({ id, name, surname, workEmail }, index): Row => {
    const contact = [workEmail, workEmail.toUpperCase(), `mailto:${workEmail}`, ` ${workEmail} `];
    const cells = [
      `${surname}, ${name}`,
      `alt.${index}@früher.example`,
      contact[index % 4] ?? '',
      'Österreich',
      index === 3 ? '=2+5' : 'Stand 4',
    ];
    return { cells, personId: String(id) };
  });
  const strangers = ['x@unknown.example', 'y@unknown.example', 'keine Angabe'].map((contact) => {
    return { cells: ['Groß, Jürgen', 'alt@früher.example', contact, 'DE', ''], personId: '' };
  });
  const rows = [...known, ...strangers];
  const lines = [header, ...rows.map(({ cells }) => cells)].map(
    (cells) => `${cells.join(';')}\r\n`,
  );
  await writeFile(file, Buffer.from(lines.join(''), 'latin1'));
  return rows;
}
