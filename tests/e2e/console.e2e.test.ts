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
import { createKey } from '../../src/core/keys/keys.ts';
import { must } from '../../src/core/lib/assert.ts';
import { createSignInLink } from '../../src/core/sessions/sessions.ts';
import { describeWithBrowser } from '../support/browser.ts';
import { type ConsolePage, expectAccessible, openConsole } from '../support/console-page.ts';
import { buildIfStale } from './compiled-code.ts';
import { withSql } from './list.ts';
import { runJson } from './processes.ts';
import { type Service, startService } from './service.ts';

const firstPageBytesMax = 100_000;
const pictures = process.env.SCREENSHOTS;
/** The pictures that documents show. */
const shown = new Set(['review', 'results', 'search', 'export', 'schedule', 'keys', 'credits']);
const caseMs = 120_000;

const root = mkdtempSync(path.join(tmpdir(), 'enrich-console-'));
const email = 'ada@northwind.example';
let service: Service;
let browser: Browser;
let password: string;
let accountId: string;

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
    ({ password, account_id: accountId } = await runJson<{ password: string; account_id: string }>(
      about('account', 'create', ...who),
    ));
    rows = await writeMessyList(path.join(root, 'messe-kontakte.csv'));
    browser = await startChromium();
    opened = await openConsole(browser, service.up.url);
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
    await page.getByLabel('Email address').fill(email);
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
      // Opened again, it has the columns that are used first.
      await page.reload();
      await page.getByRole('button', { name: `Start for ${meant} credits` }).waitFor();
      await page.getByText('2 other columns, returned unchanged').waitFor();
      await picture('review', page);
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
      await picture('results', page);
      await expectAccessible(page);
      await page.getByLabel('Format of the file').selectOption('CSV for spreadsheets');
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Download' }).click(),
      ]);
      expect(download.suggestedFilename()).toMatch(
        /^messe-kontakte people enriched \d{4}-\d\d-\d\d\.csv$/,
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
    await page.getByRole('table', { name: 'Lists' }).waitFor();
    await page.getByText('Retries and decisions, done: 1').click();
    expect(await page.getByRole('link', { name: /messe-kontakte/ }).count()).toBe(2);
    await expectAccessible(page);
  });

  it.each([
    ['a desktop', { width: 1280, height: 860 }],
    ['a phone', { width: 390, height: 844 }],
  ] as const)(
    'walks from a CRM export to its file, and from a search to a schedule, on %s',
    async (device, viewport) => {
      const link = await withSql(service, (sql) => createSignInLink(sql, accountId));
      const at = `${service.up.url}/#/sign-in?link=${link}`;
      const { page: own, wrong } = await openConsole(browser, at, { viewport });
      const isPhone = device === 'a phone';
      const look = async (name: string) => {
        expect(await own.evaluate('document.documentElement.scrollWidth <= innerWidth'), name).toBe(
          true,
        );
        if (!isPhone) await picture(name, own);
        await expectAccessible(own);
      };
      const goTo = async (name: string) => {
        if (isPhone) await own.getByRole('button', { name: 'Menu' }).click();
        await own.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click();
      };
      await own.getByRole('heading', { name: 'Welcome' }).waitFor();
      expect(own.url()).not.toContain(link);
      await own.evaluate('globalThis.isSamePage = true');
      await look('welcome');

      await own.getByRole('link', { name: 'Upload a list' }).click();
      const { file, names } = await writeCrmExport(
        path.join(root, `hubspot-${viewport.width}.csv`),
      );
      await own.getByLabel('List', { exact: true }).setInputFiles(file);
      await own.getByRole('button', { name: 'Continue' }).click();
      await own.getByRole('heading', { name: 'Check your columns' }).waitFor();
      // The title is no row and no header, and the second column of the same name can be mapped.
      const columns = own.getByLabel(/^Use “Email/);
      await expect.poll(() => columns.count(), { timeout: 10_000 }).toBe(2);
      const start = own.getByRole('button', { name: `Start for ${names.length} credits` });
      await start.waitFor();
      await look('columns');
      await start.click();
      await own.getByRole('button', { name: 'Row 1', exact: true }).waitFor();
      await look('read');
      await own.getByLabel('Format of the file').selectOption('CSV for spreadsheets');
      const [download] = await Promise.all([
        own.waitForEvent('download'),
        own.getByRole('button', { name: 'Download' }).click(),
      ]);
      const text = await readFile(await download.path(), 'utf8');
      const [found = [], ...records] = parse(text, { bom: true }) as string[][];
      const status = found.indexOf('match.status');
      expect(records.map((cells) => [cells[1], cells[status]])).toEqual(
        names.map((name) => [name, 'matched']),
      );

      await goTo('Search');
      await own.getByLabel('Female').check();
      await own.getByLabel('Work email').check();
      const gives = own.getByLabel('Preview of the search');
      await gives.getByText(/^about [\d,]+ people$/).waitFor();
      await look('search');
      await own.getByText(/^Save(d searches| this search)/).click();
      await own.getByLabel('Name of this search').fill(`Leads ${device}`);
      await own.getByRole('button', { name: 'Save the search' }).click();
      await own.getByRole('link', { name: `Leads ${device}` }).waitFor();
      await look('saved');
      await own.getByRole('link', { name: 'Export', exact: true }).click();
      await own.getByLabel('Max people').fill('20');
      await look('new-export');
      await own.getByRole('button', { name: 'Continue' }).click();
      await own.getByRole('button', { name: 'Start for about 20 credits' }).click();
      await own.getByRole('heading', { name: 'Results' }).waitFor();
      await look('export');
      await goTo('Search');
      await own.getByText('Saved searches').click();
      await own.getByRole('link', { name: `Leads ${device}` }).click();
      await gives.getByText(/^about [\d,]+ people$/).waitFor();
      await own.getByRole('link', { name: 'Schedule', exact: true }).click();
      await own.getByLabel('Name', { exact: true }).fill('New leads');
      await own.locator('.next-runs time').nth(4).waitFor();
      await look('schedule');
      await own.getByRole('button', { name: 'Save the schedule' }).click();
      await own.getByText('It has not run yet').waitFor();
      await look('scheduled');
      expect(await own.evaluate('globalThis.isSamePage')).toBe(true);
      expect(wrong).toEqual([]);
      await own.context().close();
    },
    caseMs,
  );

  // Their behaviour is tested with the API; here are their pictures.
  it.runIf(pictures !== undefined)('shows keys and credits', async () => {
    await withSql(service, async (sql) => {
      for (const name of ['CRM sync', 'Sign-up form']) {
        const scopes = ['enrich', 'batches'] as const;
        await createKey(sql, { accountId, mode: 'live', name, scopes: [...scopes] });
      }
    });
    await openPage('Keys');
    await page.getByRole('table', { name: /^Keys/ }).waitFor();
    await picture('keys', page);
    await openPage('Credits');
    await page.getByRole('table', { name: /^Credit activity/ }).waitFor();
    await picture('credits', page);
    await openPage('Lists');
  });

  it('does the same for free in test mode, where no live list is visible', async () => {
    await page.getByRole('switch', { name: 'Test mode' }).click();
    await page.getByRole('heading', { name: 'No lists yet' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('switch', { name: 'Test mode' }).click();
    await page.getByRole('table', { name: 'Lists' }).waitFor();
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
  async function picture(name: string, of: Page): Promise<void> {
    if (pictures === undefined || !shown.has(name)) return;
    await of.screenshot({ path: path.join(pictures, `console-${name}.png`) });
  }
});

/** A cell that a spreadsheet would run as a formula comes back with an apostrophe prefix. */
function safe(cell: string): string {
  return cell.startsWith('=') ? `'${cell}` : cell;
}

/**
 * Writes a list in Windows-1252 with semicolons: people of the graph by work email in a column that no header
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

/** Writes a list as a CRM exports it: a title above the header, and two columns of one name. Returns the first names. */
async function writeCrmExport(file: string): Promise<{ file: string; names: string[] }> {
  const people = await withSql(
    service,
    (sql) => sql<Person[]>`
      select id, name, surname, work_email from persons
      where work_email <> '' and name || surname ~ '^[A-Za-z -]+$'
        and (select count(*) from persons other where other.work_email = persons.work_email
          or other.email = persons.work_email) = 1
      order by id desc limit 15`,
  );
  const rows = people.map(({ id, name, surname, workEmail }) =>
    [id, name, surname, workEmail, '', 'Lead'].join(','),
  );
  const header = 'Record ID,First Name,Last Name,Email,Email,Lifecycle Stage';
  await writeFile(file, `"All contacts, exported 2026-11-21"\n\n${[header, ...rows].join('\n')}\n`);
  return { file, names: people.map(({ name }) => name) };
}
