/** The pages about keys and credits, in a browser. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startChromium } from '../../../bench/browser.ts';
import { buildIfStale } from '../../../tests/e2e/compiled-code.ts';
import { describeWithBrowser } from '../../../tests/support/browser.ts';
import { openConsole } from '../../../tests/support/console-page.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { smallGraph } from '../../../tests/support/small-graph.ts';
import { createAccount } from '../../core/accounts/accounts.ts';
import { createKey } from '../../core/keys/keys.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  await buildIfStale();
  pipeline = await openPipeline();
  await importGraph(pipeline.sql, smallGraph);
});
afterAll(() => pipeline.close());

describeWithBrowser('in a browser', () => {
  let browser: Browser;
  let owner: Caller;
  let page: Page;
  beforeAll(async () => {
    browser = await startChromium();
    const { accountId } = await pipeline.account(100);
    owner = await pipeline.keyOf(accountId, 'live', ['enrich', 'batches', 'account']);
    page = await browser.newPage();
    await page.goto(pipeline.url);
    await page.getByRole('radio', { name: 'API key' }).check();
    await page.getByRole('textbox', { name: 'API key' }).fill(owner.key);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'No lists yet' }).waitFor();
  });
  afterAll(() => browser.close());

  const enrich = (key: string) =>
    fetch(`${pipeline.url}/v1/people/enrich?email=ada@home.example`, {
      headers: { Authorization: `Bearer ${key}` },
    });
  const shownKey = async () => (await page.locator('.secret').textContent()) ?? '';

  test('a key is made, shown once, works, is replaced, and ends when it is revoked', async () => {
    await page.getByRole('link', { name: 'Keys' }).click();
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByLabel('Name').fill('CRM import');
    await page.getByLabel('Credits per day').fill('5');
    await page.getByRole('button', { name: 'Create key' }).click();
    const made = await shownKey();
    expect((await enrich(made)).status).toBe(200);
    await page.getByRole('button', { name: 'I’ve saved it' }).click();
    expect(await page.content()).not.toContain(made);

    const row = page.getByRole('row', { name: /CRM import/ });
    await row.getByRole('button', { name: 'Rotate CRM import' }).click();
    await page.getByRole('button', { name: 'Rotate the key' }).click();
    const rolled = await shownKey();
    await page.getByRole('button', { name: 'I’ve saved it' }).click();
    expect((await enrich(made)).status).toBe(200);
    expect((await enrich(rolled)).status).toBe(200);

    await page.getByRole('button', { name: 'Revoke CRM import' }).click();
    await page.getByRole('button', { name: 'Revoke the key' }).click();
    await page.getByText('Revoked', { exact: true }).waitFor();
    const revoked = await page.getByRole('row').filter({ hasText: 'Revoked' }).textContent();
    expect(revoked).toMatch(/Revoked\S+ \d.*\d:\d\d/);
    expect((await enrich(rolled)).status).toBe(403);
  });

  test('a key that is revoked while the list is read is shown as revoked', async () => {
    const row = (name: string) => page.getByRole('row', { name: new RegExp(`^${name}\\s`) });
    const revoke = async (name: string) => {
      await page.getByRole('button', { name: `Revoke ${name}` }).click();
      await page.getByRole('button', { name: 'Revoke the key' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    };
    for (const name of ['First', 'Second']) {
      await createKey(pipeline.sql, { accountId: owner.accountId, mode: 'live', name });
    }
    await page.getByRole('link', { name: 'Credits' }).click();
    await page.getByRole('link', { name: 'Keys' }).click();
    await row('Second').waitFor();
    let letGo = () => {};
    const released = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    let tell = () => {};
    const isRead = new Promise<void>((resolve) => {
      tell = resolve;
    });
    // The list as it is when only the first one is revoked.
    await page.route(
      '**/v1/keys',
      async (route) => {
        const response = await route.fetch();
        tell();
        await released;
        await route.fulfill({ response });
      },
      { times: 1 },
    );
    await revoke('First');
    await isRead;
    await revoke('Second');
    letGo();
    await row('First').getByText('Revoked', { exact: true }).waitFor();
    await row('Second').getByText('Revoked', { exact: true }).waitFor();
  });

  test('who signed in with a password makes a key too, within the bounds of the console', async () => {
    const who = { email: 'ada@list.example', password: 'correct horse battery' };
    await createAccount(pipeline.sql, { name: 'Ada', credits: 10, ...who });
    const { page: own, wrong } = await openConsole(browser, pipeline.url);
    await own.getByLabel('Email address').fill(who.email);
    await own.getByLabel('Password').fill(who.password);
    await own.keyboard.press('Enter');
    await own.getByRole('link', { name: 'Keys' }).click();
    await own.getByText('Credits', { exact: true }).locator('..').getByText('10').waitFor();
    await own.getByRole('button', { name: 'New key' }).first().click();
    await own.getByLabel('Name').fill('CRM');
    // More than the usual 60, without the operator.
    await own.getByLabel('Requests per minute').fill('300');
    await own.getByRole('button', { name: 'Create key' }).click();
    expect((await enrich((await own.locator('.secret').textContent()) ?? '')).status).toBe(200);
    expect(wrong).toEqual([]);
    await own.context().close();
  });

  test('what is wrong with a new key stands beside its field', async () => {
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByLabel('Requests per minute').fill('1000000');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByText(/^Enter \d+ or less\.$/).waitFor();
    expect(await page.getByLabel('Requests per minute').getAttribute('aria-invalid')).toBe('true');
    await page.getByRole('button', { name: 'Cancel' }).click();
  });

  test('credits are told as the wallet and the ledger hold them', async () => {
    const charged = await pipeline.charges(owner);
    expect(charged).toHaveLength(3);
    await page.getByRole('link', { name: 'Credits' }).click();
    await page.getByText('97', { exact: true }).first().waitFor();
    const row = page.getByRole('row', { name: /Enrich people/ });
    await row.waitFor();
    expect((await row.getByRole('cell').allTextContents()).slice(-2)).toEqual(['3', '-3']);
    await page.getByRole('img', { name: /Credits spent each day/ }).waitFor();
    await page.getByLabel('For').selectOption({ label: 'Credits added' });
    await page.getByRole('row', { name: /\+100/ }).waitFor();
    expect(await row.count()).toBe(0);
  });

  test('a page waits for the limit of calls; one that lasts, and that of an action, is told at once', async () => {
    const limited = (seconds: number) => {
      const more = { code: 'rate_limited', detail: 'Too many calls.', retry_after: seconds };
      return { status: 429, json: { status: 429, ...more } };
    };
    const told = page.getByText('Too many calls.');
    await page.getByRole('link', { name: 'Keys' }).click();
    await page.route('**/v1/me', (route) => route.fulfill(limited(0.1)), { times: 3 });
    const read = page.waitForResponse((answer) => answer.url().endsWith('/v1/me') && answer.ok());
    await page.getByRole('link', { name: 'Credits' }).click();
    await read;
    await page.getByText('97', { exact: true }).first().waitFor();
    expect(await told.count()).toBe(0);
    await page.getByRole('link', { name: 'Keys' }).click();
    await page.route('**/v1/me', (route) => route.fulfill(limited(3_600)));
    await page.getByRole('link', { name: 'Credits' }).click();
    await told.first().waitFor();
    await page.unroute('**/v1/me');
    let posts = 0;
    await page.route('**/v1/keys', (route) => {
      if (route.request().method() !== 'POST') return route.fallback();
      posts++;
      return route.fulfill(limited(0.1));
    });
    await page.getByRole('link', { name: 'Keys' }).click();
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByLabel('Name').fill('Other');
    await page.getByRole('button', { name: 'Create key' }).click();
    await told.first().waitFor();
    expect(posts).toBe(1);
    await page.unroute('**/v1/keys');
  });
});
