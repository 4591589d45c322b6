/** The console's behaviour on errors: each shows on the page. */
import { randomBytes } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithBrowser } from '../../../tests/support/browser.ts';
import { openBrowserPipeline } from '../../../tests/support/browser-pipeline.ts';
import {
  expectAccessible,
  openConsole,
  openSignedIn,
  openTab,
  runUntil,
  signInWithKey,
} from '../../../tests/support/console-page.ts';
import type { Caller, Pipeline } from '../../../tests/support/pipeline.ts';

const uploadBytesMax = 1024 * 1024;
const people = 'E-mail;Name\r\nada@team.example;Ada\r\nbob@team.example;Bob\r\n';

let pipeline: Pipeline;
let browser: Browser;

describeWithBrowser('the console', () => {
  beforeAll(async () => {
    ({ pipeline, browser } = await openBrowserPipeline({
      UPLOAD_BYTES_MAX: String(uploadBytesMax),
    }));
  }, 120_000);
  afterAll(() => pipeline.close());

  /** A user who is signed in with a key of an account with 1,000 credits. */
  async function openAt(path = '/') {
    const caller = await pipeline.account(1_000);
    const opened = await openSignedIn(browser, pipeline.url + path, caller.key);
    return { ...opened, caller };
  }

  async function close(page: Page): Promise<void> {
    await page.context().close();
  }

  const listsOf = ({ accountId }: Caller) =>
    pipeline.sql<{ id: string; state: string }[]>`
      select id, state from batches where account_id = ${accountId} order by id`;

  function chooseFile(page: Page, name: string, content: string | Buffer, mimeType = 'text/csv') {
    const file = { name, mimeType, buffer: Buffer.from(content) };
    return page.getByLabel('List', { exact: true }).setInputFiles(file);
  }

  const upload = (page: Page) => page.getByRole('button', { name: 'Continue' }).click();
  const heading = (page: Page, name: string) => page.getByRole('heading', { name });

  test('is there for who has no session, and says what is wrong with a sign-in', async () => {
    const { page, wrong } = await openConsole(browser, `${pipeline.url}/#/batches`);
    await heading(page, 'Sign in').waitFor();
    await expectAccessible(page);
    await signInWithKey(page, 'svc_live_nothing');
    await page.getByText('is not a whole key').waitFor();
    await signInWithKey(page, 'nothing');
    await page.getByText('is not a key of this service').waitFor();
    const field = page.getByRole('textbox', { name: 'API key' });
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    // Red, as the message under it.
    const border = 'getComputedStyle(document.querySelector("[aria-invalid=true]")).borderColor';
    const text = 'getComputedStyle(document.querySelector(".error")).color';
    expect(await page.evaluate(border)).toBe(await page.evaluate(text));
    await page.getByRole('radio', { name: 'Email' }).check();
    await page.getByLabel('Email address').fill('nobody@team.example');
    await page.getByLabel('Password').fill('wrong horse battery');
    await page.keyboard.press('Enter');
    await page.getByText('No account has this email and password').waitFor();
    await expectAccessible(page);
    expect(wrong).toEqual([]);
    await close(page);
  });

  test('shows an empty list to a new account, and nothing after signing out', async () => {
    const { page, wrong } = await openAt();
    await heading(page, 'No lists yet').waitFor();
    expect(await page.getByText('1,000').isVisible()).toBe(true);
    await expectAccessible(page);
    await page.reload();
    await heading(page, 'No lists yet').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await heading(page, 'Sign in').waitFor();
    expect(await page.getByText('1,000').count()).toBe(0);
    expect(wrong).toEqual([]);
    await close(page);
  });

  test('says at once that a file is too large, or no list, and sends nothing', async () => {
    const { page, caller } = await openAt('/#/batches/new');
    await chooseFile(page, 'big.csv', Buffer.alloc(uploadBytesMax + 1, 'a'));
    await page.getByText('The limit is 1 MB').waitFor();
    await chooseFile(page, 'photo.png', 'x', 'image/png');
    await page.getByText('We can’t read .png files').waitFor();
    await chooseFile(page, 'empty.csv', '');
    await page.getByText('This file is empty').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Continue' }).click({ force: true });
    expect(await listsOf(caller)).toEqual([]);
    await close(page);
  });

  test('says that nothing is at an address that cannot be read', async () => {
    const { page } = await openAt('/#/batches/%E0%A4%A');
    await heading(page, 'Page not found').waitFor();
    await close(page);
  });

  test('says that a file is too large when only the service can tell', async () => {
    const { page, caller } = await openAt();
    await page.route('**/console/session', async (route) => {
      const response = await route.fetch();
      const told = (await response.json()) as object;
      await route.fulfill({ response, json: { ...told, limits: { upload_bytes: 1e9 } } });
    });
    await page.goto(`${pipeline.url}/?again#/batches/new`);
    await chooseFile(page, 'big.csv', Buffer.alloc(4 * uploadBytesMax, 'a@b.example\n'));
    await upload(page);
    await page.getByText(`This file has more than ${uploadBytesMax} bytes`).waitFor();
    expect(await listsOf(caller)).toEqual([]);
    await close(page);
  });

  test('says what else the service finds wrong with a file, and takes the next one', async () => {
    const { page, caller } = await openAt('/#/batches/new');
    await chooseFile(page, 'list.csv', '%PDF-1.7 something');
    await upload(page);
    await page.getByText('This file is a PDF document').waitFor();
    // The same file would be refused again.
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
    expect(await page.getByText('Choose another file').isVisible()).toBe(true);
    await chooseFile(page, 'list.csv', randomBytes(20_000));
    await upload(page);
    await page.getByText('This file is not text').waitFor();
    // Two columns without an identifier: the next page asks what they hold.
    await chooseFile(page, 'list.csv', 'Foo;Bar\r\nx;y\r\n');
    await upload(page);
    await page.getByText('Reading your file…', { exact: true }).waitFor();
    await pipeline.runUntilIdle();
    await page.getByText('Choose at least one column to match on: Profile URL').waitFor();
    await expectAccessible(page);
    expect(await page.getByRole('button', { name: 'Start' }).getAttribute('aria-disabled')).toBe(
      'true',
    );
    await page.getByLabel('Use “Foo” as').selectOption({ label: 'Handle' });
    await page.getByText('Calculating the price').first().waitFor();
    expect(await listsOf(caller)).toMatchObject([{ state: 'ready' }]);
    await close(page);
  });

  test('takes a file once, however often its connection is lost', async () => {
    const { page, caller } = await openAt('/#/batches/new');
    await chooseFile(page, 'list.csv', people);
    const lost = page.getByText('The connection was lost during the upload');
    const sent = '**/v1/batches?operation=*';
    // First nothing arrives, then everything but the answer.
    await page.route(sent, (route) => route.abort('connectionreset'), { times: 1 });
    await upload(page);
    await lost.waitFor();
    expect(await page.getByText('list.csv').first().isVisible()).toBe(true);
    await expectAccessible(page);
    await page.route(
      sent,
      async (route) => {
        await route.fetch();
        await route.abort('connectionreset');
      },
      { times: 1 },
    );
    await page.getByRole('button', { name: 'Try again' }).click();
    await lost.waitFor({ state: 'hidden' });
    await lost.waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Reading your file…', { exact: true }).waitFor();
    expect(await listsOf(caller)).toHaveLength(1);
    await close(page);
  });

  /** A list that waits to be started, on the screen. */
  async function openReady() {
    const opened = await openAt('/#/batches/new');
    await chooseFile(opened.page, 'list.csv', people);
    await upload(opened.page);
    await opened.page.getByText('Reading your file…', { exact: true }).waitFor();
    await pipeline.runUntilIdle();
    await heading(opened.page, 'Check your columns').waitFor();
    const start = opened.page.getByRole('button', { name: /^Start for up to \d credits?/ });
    await runUntil(pipeline, opened.page, start.waitFor());
    return opened;
  }

  async function waitForState(caller: Caller, state: string): Promise<void> {
    await expect.poll(async () => (await listsOf(caller))[0]?.state).toBe(state);
  }

  test('asks to sign in again when the session has ended, and goes on from there', async () => {
    const { page, wrong, caller } = await openReady();
    await pipeline.sql`update sessions set expires_at = now()`;
    await page.getByRole('button', { name: /^Start for/ }).click();
    const dialog = page.getByRole('dialog', { name: /^Your session expired/ });
    await dialog.waitFor();
    await expectAccessible(page);
    // Escape would lose what the dialog promises to keep.
    await page.keyboard.press('Escape');
    await signInWithKey(page, caller.key);
    await waitForState(caller, 'queued');
    await heading(page, 'Progress').waitFor();
    expect(wrong).toEqual([]);
    await close(page);
  });

  test('does nothing in the name of another account that signs in instead', async () => {
    const { page, caller } = await openReady();
    const other = await pipeline.account(7);
    await pipeline.sql`update sessions set expires_at = now()`;
    await page.getByRole('button', { name: /^Start for/ }).click();
    await page.getByRole('dialog', { name: /^Your session expired/ }).waitFor();
    await signInWithKey(page, other.key);
    await heading(page, 'List not found').waitFor();
    expect(await listsOf(caller)).toMatchObject([{ state: 'ready' }]);
    expect(await listsOf(other)).toEqual([]);
    await close(page);
  });

  test('shows in every tab what has become of a list, and who is signed in', async () => {
    const { page, caller } = await openReady();
    const { page: second } = await openTab(await page.context().newPage(), page.url());
    await second.getByRole('button', { name: /^Start for/ }).waitFor();
    // The second tab does not hear of it before it tries.
    await second.route('**/events', (route) => route.abort());
    await second.reload();
    await second.getByRole('button', { name: /^Start for/ }).waitFor();
    await page.getByRole('button', { name: /^Start for/ }).click();
    await waitForState(caller, 'queued');
    await second.getByRole('button', { name: /^Start for/ }).click();
    await heading(second, 'Progress').waitFor();
    await second.getByText('This has changed meanwhile').waitFor();
    await second.unroute('**/events');
    // The notice goes at any moment, and moves what is clicked.
    await second.getByText('Connection lost').waitFor({ state: 'detached' });
    await second.getByRole('button', { name: 'Pause' }).click();
    await second.getByText('Paused. Resume to continue').waitFor();
    await page.getByText('Paused. Resume to continue').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await heading(second, 'Sign in').waitFor();
    await close(page);
  });

  test('cancels after a question, and says what is not charged', async () => {
    const { page, wrong, caller } = await openReady();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog', { name: 'Cancel this list?' }).waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Cancel the list' }).click();
    await waitForState(caller, 'cancelling');
    // The wake-up follows the commit.
    await expect.poll(() => pipeline.queues.waiting.length).toBeGreaterThan(0);
    await pipeline.runUntilIdle();
    await page.getByText('Not processed').first().waitFor();
    expect(wrong).toEqual([]);
    await close(page);
  });

  test('says that a list is not read to its end when the connection is away, and comes back', async () => {
    const { page, caller } = await openReady();
    await page.getByRole('button', { name: /^Start for/ }).click();
    await waitForState(caller, 'queued');
    await page.context().setOffline(true);
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('We can’t reach the server').waitFor();
    await page.context().setOffline(false);
    await pipeline.runUntilIdle();
    await heading(page, 'Results').waitFor();
    await close(page);
  });
});
