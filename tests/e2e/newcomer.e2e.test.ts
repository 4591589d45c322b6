/**
 * A newcomer's walk in the browser, from files as they are downloaded to an enriched list: the register of companies, its
 * people, a CRM and a network through the Data page, then a list. With SCREENSHOTS set to a folder, saves a picture.
 */
import { mkdtempSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'csv-parse/sync';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startChromium } from '../../bench/browser.ts';
import { hasSamples, samples } from '../../src/sources/import-files.test-suite.ts';
import { describeWithBrowser } from '../support/browser.ts';
import {
  type ConsolePage,
  expectAccessible,
  factOf,
  openConsole,
} from '../support/console-page.ts';
import { buildIfStale } from './compiled-code.ts';
import { runJson } from './processes.ts';
import { type Service, startService } from './service.ts';

const pictures = process.env.SCREENSHOTS;
const caseMs = 180_000;
const importMs = 120_000;
const contactsFile = 'crm/hubspot/hubspot-crm-exports-all-contacts-2026-10-01.csv';

/** The files in the order of the documents, with the source that is shown and the new records. */
const files = [
  [
    'companies-house/company-data/BasicCompanyDataAsOneFile-2026-10-01.zip',
    'UK companies',
    '8,420',
  ],
  [
    'companies-house/psc/persons-with-significant-control-snapshot-2026-10-02.zip',
    'UK people in control',
    '387',
  ],
  ['crm/hubspot/hubspot-crm-exports-all-companies-2026-10-01.csv', 'HubSpot', '81'],
  [contactsFile, 'HubSpot', '145'],
  ['crm/linkedin/Connections.csv', 'LinkedIn connections', '160'],
] as const;

const root = mkdtempSync(path.join(tmpdir(), 'enrich-newcomer-'));
let service: Service;
let browser: Browser;
let opened: ConsolePage;
let page: Page;

(hasSamples ? describeWithBrowser : describe.skip)('a newcomer with files of others', () => {
  beforeAll(async () => {
    await buildIfStale();
    service = await startService(path.join(root, 'data'));
    const about = ['--data-dir', service.dataDir];
    const { account_id: account } = await runJson<{ account_id: string }>([
      'account',
      'create',
      '--name',
      'My team',
      '--credits',
      '10000',
      ...about,
    ]);
    const scopes = 'enrich,search,batches,exports,account,admin';
    const { key } = await runJson<{ key: string }>([
      ...['key', 'create', '--account', account, '--mode', 'live', '--scopes', scopes, ...about],
    ]);
    browser = await startChromium();
    opened = await openConsole(browser, service.up.url);
    page = opened.page;
    await page.getByRole('radio', { name: 'API key' }).check();
    await page.getByRole('textbox', { name: 'API key' }).fill(key);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await service?.[Symbol.asyncDispose]();
    await rm(root, { recursive: true, force: true });
  }, 60_000);

  const fact = (name: string) => factOf(page, name);

  it.each(files)(
    'imports %s',
    async (file, source, added) => {
      await page.getByRole('link', { name: 'Data', exact: true }).first().click();
      await page.getByLabel('Files to import').setInputFiles(path.join(samples, file));
      await page.getByRole('heading', { name: 'First records' }).waitFor({ timeout: importMs });
      expect(await fact('Source').textContent()).toBe(source);
      await fact('New').waitFor({ timeout: importMs });
      expect(await fact('New').textContent()).toBe(added);
      await page.getByRole('button', { name: 'Import', exact: true }).click();
      await page.getByRole('link', { name: /^Show import/ }).waitFor({ timeout: importMs });
      expect(await fact('New').textContent()).toBe(added);
      await expectAccessible(page);
    },
    caseMs,
  );

  it(
    'finds the imports in the history, and their people in a list',
    async () => {
      await page.getByRole('link', { name: 'Import another file' }).click();
      const history = page.getByRole('table', { name: 'History of imports' });
      await history.waitFor();
      expect(await history.getByRole('rowheader').count()).toBe(files.length);
      if (pictures !== undefined) {
        await page.screenshot({ path: path.join(pictures, 'console-data.png') });
      }
      const contacts = parse(await readFile(path.join(samples, contactsFile)), {
        columns: true,
      }) as Record<string, string>[];
      const isOut = (one: Record<string, string>) => one['Unsubscribed from all email'] === 'true';
      const leads = contacts.filter((one) => one.Email && !isOut(one)).slice(0, 20);
      const list = path.join(root, 'leads.csv');
      await writeFile(
        list,
        `Name,Work email\n${leads.map((one) => `${one['Last Name']},${one.Email}`).join('\n')}\n`,
      );
      await page.getByRole('link', { name: 'Lists' }).first().click();
      await page.getByRole('link', { name: 'Upload a list' }).first().click();
      await page.getByLabel('List', { exact: true }).setInputFiles(list);
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByRole('button', { name: /^Start for \d+ credits$/ }).click();
      await page.getByRole('heading', { name: 'About this list' }).waitFor();
      await page.getByLabel('Format of the file').selectOption('CSV for spreadsheets');
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Download' }).click(),
      ]);
      const [names = [], ...rows] = parse(await readFile(await download.path(), 'utf8'), {
        bom: true,
      }) as string[][];
      const column = (name: string) => rows.map((row) => row[names.indexOf(name)]);
      expect(column('match.status')).toEqual(leads.map(() => 'matched'));
      expect(column('person.position')).toContain(leads[0]?.['Job Title']);
      expect(opened.wrong).toEqual([]);
    },
    caseMs,
  );
});
