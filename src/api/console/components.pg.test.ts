/** Components of every page of the console: dialogs, tables, and tabs of one session. */
import type { Browser, Locator, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithBrowser } from '../../../tests/support/browser.ts';
import { openBrowserPipeline } from '../../../tests/support/browser-pipeline.ts';
import {
  expectAccessible,
  openConsole,
  openSignedIn,
  openTab,
} from '../../../tests/support/console-page.ts';
import type { Caller, Pipeline } from '../../../tests/support/pipeline.ts';
import { createAccount } from '../../core/accounts/accounts.ts';
import { scopes } from '../../core/keys/keys.ts';

let pipeline: Pipeline;
let browser: Browser;

describeWithBrowser('the components of the console', () => {
  beforeAll(async () => {
    ({ pipeline, browser } = await openBrowserPipeline());
  }, 120_000);
  afterAll(() => pipeline.close());

  /** An account with a key that may do everything. */
  async function anyone(): Promise<Caller> {
    const { accountId } = await pipeline.account(100);
    return pipeline.keyOf(accountId, 'live', [...scopes]);
  }

  async function openAt(path: string, caller?: Caller) {
    const own = caller ?? (await anyone());
    await pipeline.sql`update api_keys set requests_per_minute = 10000 where id = ${own.keyId}`;
    const opened = await openSignedIn(browser, `${pipeline.url}/#${path}`, own.key);
    return { ...opened, caller: own };
  }

  const focused = (page: Page) => page.evaluate('document.activeElement.textContent');

  test('a dialog gives the focus back to what opened it', async () => {
    const { page, wrong } = await openAt('/keys');
    const opener = page.getByRole('button', { name: 'New key' });
    for (const leave of ['Escape', 'Cancel']) {
      await opener.focus();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').waitFor();
      if (leave === 'Escape') await page.keyboard.press('Escape');
      else await page.getByRole('button', { name: leave }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(await focused(page)).toBe('New key');
    }
    expect(wrong).toEqual([]);
    await page.context().close();
  });

  test('what is removed leaves the focus to what was around it', async () => {
    const caller = await anyone();
    const { key } = await pipeline.keyOf(caller.accountId, 'live', ['search']);
    const { page, wrong } = await openAt('/keys', caller);
    const revoke = page.getByRole('button', { name: `Revoke ${key.slice(0, 13)}` });
    await revoke.focus();
    await page.keyboard.press('Enter');
    // All of its text is in sight, although a cell of the table holds it.
    const dialog = "document.querySelector('dialog')";
    await page.getByRole('dialog').getByText('This can’t be undone.').waitFor();
    expect(await page.evaluate(`${dialog}.scrollWidth - ${dialog}.clientWidth`)).toBe(0);
    await page.getByRole('button', { name: 'Revoke the key' }).click();
    await revoke.waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Keys, newest first');
    // Where a click beside it took the focus on purpose, it is not taken back.
    await page.evaluate('document.activeElement.blur()');
    await page.evaluate('document.querySelector("section.table").remove()');
    expect(await page.evaluate('document.activeElement.tagName')).toBe('BODY');
    expect(wrong).toEqual([]);
    await page.context().close();
  });

  test('a refused form moves the focus to the first field with an error', async () => {
    const { page, wrong } = await openAt('/keys');
    await page.getByRole('button', { name: 'New key' }).click();
    const budget = page.getByLabel('Credits per day');
    await budget.fill('-1');
    await page.getByLabel('Name').focus();
    await page.keyboard.press('Enter');
    await page.locator('#credits_per_day-error').waitFor();
    expect(await page.evaluate('document.activeElement.id')).toBe('credits_per_day');
    const scopesShown = page.getByRole('dialog').getByRole('checkbox');
    for (const scope of await scopesShown.all()) await scope.uncheck();
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('alert').getByText('Choose at least one.').waitFor();
    expect(await page.evaluate('document.activeElement.type')).toBe('checkbox');
    await expectAccessible(page);
    expect(wrong).toEqual([]);
    await page.context().close();
  });

  test('Escape does not lose a key that is shown once', async () => {
    const { page } = await openAt('/keys');
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByRole('button', { name: 'Create key' }).click();
    const shown = page.getByRole('dialog', { name: 'Save this key now' });
    await shown.waitFor();
    for (const _ of [1, 2, 3]) await page.keyboard.press('Escape');
    await expect.poll(() => shown.textContent()).toContain('svc_live_');
    await page.getByRole('button', { name: 'I’ve saved it' }).click();
    await shown.waitFor({ state: 'detached' });
    await page.context().close();
  });

  test('Back does not lose a key that is shown once, or is just being made', async () => {
    const { page, wrong } = await openAt('/batches');
    const shown = page.getByRole('dialog', { name: 'Save this key now' });
    const make = async () => {
      await page.getByRole('link', { name: 'Keys' }).click();
      await page.getByRole('button', { name: 'New key' }).click();
      await page.getByRole('button', { name: 'Create key' }).click();
    };
    const leave = async () => {
      await page.goBack();
      await page.waitForURL(/#\/batches$/);
      await page.getByRole('heading', { name: 'Lists', level: 1 }).waitFor({ state: 'attached' });
    };
    const save = async () => {
      expect(await shown.textContent()).toContain('svc_live_');
      await expectAccessible(page);
      await page.getByRole('button', { name: 'I’ve saved it' }).click();
      await shown.waitFor({ state: 'detached' });
      expect(await page.content()).not.toMatch(/svc_live_\w{20}/);
    };
    await make();
    await shown.waitFor();
    await leave();
    await save();
    let late: Route | undefined;
    await page.route('**/v1/keys', async (route) => {
      if (route.request().method() === 'POST') late = route;
      else await route.continue();
    });
    await make();
    await expect.poll(() => late).toBeDefined();
    await leave();
    await late?.continue();
    await shown.waitFor();
    await save();
    expect(wrong).toEqual([]);
    await page.context().close();
  });

  test('a long name leaves the other columns in sight', async () => {
    const caller = await anyone();
    const name = `${'a very long name '.repeat(7)}end`;
    await pipeline.upload(caller, 'email\na@b.example\n', { operation: 'people.enrich', name });
    const { page } = await openAt('/batches', caller);
    await page.setViewportSize({ width: 1280, height: 860 });
    const end = async (locator: Locator) => {
      const box = await locator.boundingBox();
      return box === null ? Number.NaN : box.x + box.width;
    };
    const table = await end(page.getByRole('region', { name: 'Lists' }));
    expect(await end(page.getByRole('columnheader', { name: 'Created' }))).toBeLessThanOrEqual(
      table,
    );
    expect(await page.getByRole('rowheader').getAttribute('title')).toBe(name);
    await page.context().close();
  });

  test('a suggestion stays the chosen one when those of a longer text arrive', async () => {
    const { page } = await openAt('/search');
    const suggestion = (id: number, name: string) => ({ id, name, people: 10 });
    let arrive = () => {};
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    await page.route('**/lookups/job-titles?*', async (route) => {
      const isLonger = route.request().url().includes('q=engi');
      if (isLonger) await arrived;
      const [baker, engineer] = [suggestion(1, 'Bench Engineer'), suggestion(2, 'Engineer')];
      const data = isLonger ? [engineer, suggestion(3, 'Engine Driver')] : [baker, engineer];
      await route.fulfill({ json: { data } });
    });
    const field = page.getByRole('combobox', { name: 'Job title', exact: true });
    await field.fill('eng');
    await page.getByRole('option', { name: /^Bench Engineer/ }).waitFor();
    await field.fill('engi');
    for (const _ of [1, 2]) await field.press('ArrowDown');
    arrive();
    await page.getByRole('option', { name: /^Engine Driver/ }).waitFor();
    await field.press('Enter');
    expect(await page.locator('.chip').allTextContents()).toEqual(['Engineer']);
    await page.context().close();
  });

  test('a wide table scrolls inside, and never the page', async () => {
    const { page } = await openAt('/keys');
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole('table').waitFor();
    const widths = 'document.documentElement.scrollWidth';
    expect(await page.evaluate(widths)).toBeLessThanOrEqual(390);
    await page.context().close();
  });

  test.each([
    ['value', `name=[${'x'.repeat(300)}]`],
    ['name of a field', `${'x'.repeat(300)}=1`],
  ])('a long %s of a filter does not widen the page', async (_, filter) => {
    for (const view of ['filter', 'people']) {
      const { page } = await openAt(`/search?${new URLSearchParams({ filter, view })}`);
      await page.getByText('x'.repeat(300)).first().waitFor({ state: 'attached' });
      const [width, window] = ['document.documentElement.scrollWidth', 'innerWidth'];
      expect(await page.evaluate(width)).toBe(await page.evaluate(window));
      await page.context().close();
    }
  });

  test('an address that leads nowhere says so', async () => {
    const { page, wrong } = await openAt('/webhooks/00000000-0000-7000-8000-000000000000');
    await page.getByRole('heading', { name: 'Webhook not found' }).waitFor();
    await page.goto(`${pipeline.url}/#/batches/%E0%A4%A`);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await expectAccessible(page);
    expect(wrong).toEqual([]);
    await page.context().close();
  });

  test('lists and balance follow what another tab does', async () => {
    const caller = await anyone();
    const draft = { operation: 'people.enrich', hold: 'true', name: 'A draft' };
    await pipeline.upload(caller, 'email\na@b.example\n', draft);
    await pipeline.upload(caller, 'email\na@b.example\n', {
      ...draft,
      hold: 'false',
      name: 'A list',
    });
    await pipeline.runUntilIdle();
    const { page, wrong } = await openAt('/batches', caller);
    await page.getByRole('link', { name: 'A list', exact: true }).waitFor();
    await page.getByText('1 draft, not started yet').waitFor();
    await expectAccessible(page);
    const other = await openTab(await page.context().newPage(), `${pipeline.url}/#/batches`);
    await other.page.getByText('1 draft, not started yet').click();
    await other.page.getByRole('button', { name: 'Discard A draft' }).click();
    await other.page.getByRole('button', { name: 'Discard it' }).click();
    await page.getByText('1 draft, not started yet').waitFor({ state: 'detached', timeout: 3000 });
    expect(await page.locator('.wallet strong').textContent()).toBe('100');
    await pipeline.grant(caller, 7, 'more');
    await other.page.goto(`${pipeline.url}/#/credits`);
    await expect
      .poll(() => page.locator('.wallet strong').textContent(), { timeout: 3000 })
      .toBe('107');
    expect(wrong).toEqual([]);
    await page.context().close();
  });

  test('a sign-out that does not reach the service says so, and can be repeated', async () => {
    const { page } = await openAt('/batches');
    await page.route('**/console/session', (route) => route.abort('connectionreset'), { times: 1 });
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('We can’t reach the server').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.context().close();
  });

  test('another tab that switches the mode takes nothing from this one', async () => {
    const account = { name: 'Two tabs', email: 'two@tabs.example', password: 'long enough secret' };
    await createAccount(pipeline.sql, { ...account, credits: 1 });
    const first = await openConsole(browser, `${pipeline.url}/#/search`);
    await first.page.getByLabel('Email address').fill(account.email);
    await first.page.getByLabel('Password').fill(account.password);
    await first.page.keyboard.press('Enter');
    await first.page.getByRole('button', { name: 'Sign out' }).waitFor();
    const second = await openTab(await first.page.context().newPage(), `${pipeline.url}/#/search`);
    await second.page.getByLabel('Skills').fill('half typed');
    await first.page.getByRole('switch', { name: 'Test mode' }).click();
    await first.page.getByText('Test mode is on').waitFor();
    await second.page.getByText('Another tab has switched to test mode').waitFor();
    expect(await second.page.getByLabel('Skills').inputValue()).toBe('half typed');
    await expectAccessible(second.page);
    await second.page.getByRole('button', { name: 'Back to live mode' }).click();
    await second.page.getByText('Another tab has switched').waitFor({ state: 'detached' });
    // Leaving the field has added it.
    await second.page.getByRole('button', { name: 'Remove half typed' }).waitFor();
    await first.page.getByText('Another tab has switched to live mode').waitFor();
    await first.page.context().close();
  });
});
