/** Search, exports and schedules on the console, as a user goes from one to the other. */
import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithBrowser } from '../../../tests/support/browser.ts';
import { openBrowserPipeline } from '../../../tests/support/browser-pipeline.ts';
import { expectAccessible, openSignedIn, openTab } from '../../../tests/support/console-page.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import type { Caller, Pipeline } from '../../../tests/support/pipeline.ts';
import { changeOwnedDays } from '../../core/credits/owned.ts';
import { nextRuns } from '../../jobs/schedule/next-run.ts';
import { runDueSchedules } from '../../jobs/schedule/run-due.ts';

const zone = 'America/New_York';
let pipeline: Pipeline;
let browser: Browser;

describeWithBrowser('the pages of search', () => {
  beforeAll(async () => {
    ({ pipeline, browser } = await openBrowserPipeline());
    await importGraph(pipeline.sql, {
      countries: [{ id: 1, name: 'France', iso2: 'FR' }],
      cities: [{ id: 10, name: 'Lyon', countryId: 1 }],
      industries: [{ id: 30, name: 'Shipping' }],
      positions: [
        { id: 20, name: 'Engineer' },
        { id: 21, name: 'Engineering Manager' },
      ],
      persons: Array.from({ length: 42 }, (_, index) => ({
        id: 101 + index,
        name: `Ann${index + 1}`,
        surname: 'Example',
        positionId: index < 30 ? 20 : 21,
        industryId: 30,
        skills: 'Welding, C++',
        cityId: 10,
        countryId: 1,
        ...(index < 5 ? { workEmail: `ann${index + 1}@team.example` } : {}),
      })),
    });
  }, 120_000);
  afterAll(() => pipeline.close());

  /** A user who is signed in with a key of an account with these credits, at a page of the console. */
  async function openAt(path: string, credits = 1_000) {
    const caller = await pipeline.account(credits);
    // A page that looks up as the user types calls often.
    await pipeline.sql`
      update api_keys set requests_per_minute = 10000 where id = ${caller.keyId}`;
    const options = { timezoneId: 'Europe/Paris' };
    const opened = await openSignedIn(browser, `${pipeline.url}/#${path}`, caller.key, options);
    return { ...opened, caller };
  }

  const searchAt = (filter: string, view = 'filter') =>
    `/search?${new URLSearchParams({ filter, view })}`;
  const filterOf = (page: Page) =>
    new URLSearchParams(new URL(page.url()).hash.split('?')[1]).get('filter');
  const goTo = (page: Page, name: string) =>
    page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click();
  const heading = (page: Page, name: string) => page.getByRole('heading', { name });
  const text = (page: Page) => page.getByLabel('Query string of the search');
  const count = (page: Page, people: string) =>
    page.getByLabel('Preview of the search').getByText(people, { exact: true }).waitFor();
  const spent = async (caller: Caller) =>
    (await pipeline.charges(caller)).reduce((sum, { amount }) => sum - amount, 0);
  /** Runs what is woken: the page has the response to a start a moment before workers are woken. */
  const untilSpent = (caller: Caller, credits: number) =>
    expect
      .poll(async () => {
        await pipeline.runUntilIdle();
        return spent(caller);
      })
      .toBe(credits);

  test('build a search by keyboard, in the form and as text alike', async () => {
    const { page, wrong } = await openAt('/search');
    await page.getByText('Describe who you are looking for').waitFor();
    await page.getByRole('combobox', { name: 'Job title', exact: true }).focus();
    await page.keyboard.type('engin');
    await page.getByRole('option', { name: /^Engineering Manager/ }).waitFor();
    await page.keyboard.press('ArrowDown');
    const active = page.getByRole('combobox', { name: 'Job title', exact: true });
    expect(await active.getAttribute('aria-activedescendant')).toBe('filter-positionList-option-0');
    await expectAccessible(page);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Remove Engineer', exact: true }).waitFor();
    await count(page, 'about 30 people');
    await count(page, 'about 30 credits for all of them');
    await page.getByRole('combobox', { name: 'Location', exact: true }).fill('franc');
    await page.getByRole('option', { name: /^France/ }).click();
    await page.getByLabel('Skills').fill('C++');
    await page.keyboard.press('Tab');
    await page.getByRole('button', { name: 'Other … range of Company size' }).click();
    await page.getByLabel('Company size: range 1 from').fill('40');
    await page.getByLabel('Work email').check();
    const filter =
      'positionList=Engineer&locationList=:France&skills=C%2B%2B&headCount=40-&emailTypeId=1';
    expect(await text(page).inputValue()).toBe(filter);
    await expect.poll(() => filterOf(page)).toBe(filter);

    await text(page).fill('positionIds=[20|21]&skills=Welding&surname=null&gender=[2|null]');
    await count(page, 'fewer than 10 people');
    await page.getByRole('button', { name: 'Remove Engineering Manager' }).waitFor();
    expect(await page.getByLabel('Work email').isChecked()).toBe(false);
    expect(await page.getByLabel('Field', { exact: true }).count()).toBe(2);
    await page.getByRole('button', { name: 'Remove condition 2' }).click();
    await page.getByRole('combobox', { name: 'Condition' }).selectOption('is known');
    await count(page, 'about 40 people');
    expect(await text(page).inputValue()).toBe('positionIds=[20|21]&skills=Welding&surname=*');
    await page.keyboard.press('Tab');
    // Titles by id, of an older link, keep a control of their own.
    await page.getByRole('combobox', { name: 'Job titles by id', exact: true }).focus();
    await page.keyboard.press('Backspace');
    await count(page, 'about 30 people');
    await page.reload();
    await page.getByRole('button', { name: 'Remove Engineer', exact: true }).waitFor();
    await expectAccessible(page);
    expect(wrong).toEqual([]);
    await page.context().close();
  });

  test('leave people out, keep a search under a name and open it again', async () => {
    const { page } = await openAt(searchAt('positionIds=[20|21]'));
    await count(page, 'about 40 people');
    await page
      .getByRole('combobox', { name: 'Not with these job titles', exact: true })
      .fill('Engineer');
    await page.keyboard.press('Enter');
    await count(page, 'about 10 people');
    const filter = 'positionIds=[20|21]&not.positionList=Engineer';
    await expect.poll(() => filterOf(page)).toBe(filter);
    await page.getByText('Save this search').click();
    await page.getByLabel('Name of this search').fill('Managers');
    await page.getByRole('button', { name: 'Save the search' }).click();
    await page.getByRole('link', { name: 'Managers' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByText('Describe who you are looking for').waitFor();
    await page.getByRole('link', { name: 'Managers' }).click();
    await count(page, 'about 10 people');
    await page.getByRole('button', { name: 'Delete Managers' }).click();
    await page.getByRole('link', { name: 'Managers' }).waitFor({ state: 'detached' });
    await page.context().close();
  });

  test('say what is wrong with a filter where it stands', async () => {
    const { page } = await openAt(searchAt('gender=3&ageRange=[25-34|45-5]&nme=x'));
    await page.getByText('“3” must be one of 1, 2, male, female.').waitFor();
    await page.getByRole('button', { name: 'Go to error' }).click();
    const selected = 'getSelection().toString()';
    expect(await page.evaluate(selected)).toBe('gender=3');
    await expectAccessible(page);
    await text(page).fill('ageRange=[25-34|45-5]&nme=x');
    await page.getByText('“45-5” is a range that ends before it begins.').waitFor();
    const from = page.getByLabel('Age: range 1 from');
    expect(await from.getAttribute('aria-invalid')).toBe('true');
    await from.fill('4');
    await page.getByText('“nme” is not a recognised parameter.').waitFor();
    await page.getByRole('button', { name: 'Remove condition 1' }).click();
    await count(page, 'fewer than 10 people');
    await page.context().close();
  });

  test('show the count of the newest filter, however late an older one is answered', async () => {
    const { page } = await openAt('/search');
    let answer = () => {};
    const isHeld = new Promise<void>((resolve) => {
      void page.route('**/personsearch/preview?positionIds=20', async (route) => {
        await new Promise<void>((release) => {
          answer = release;
          resolve();
        });
        await route.continue().catch(() => {});
      });
    });
    await text(page).fill('positionIds=20');
    await isHeld;
    const isGivenUp = page.waitForEvent('requestfailed', (request) =>
      request.url().endsWith('positionIds=20'),
    );
    await text(page).fill('positionIds=21');
    await isGivenUp;
    await count(page, 'about 10 people');
    answer();
    await page.getByLabel('Work email').check();
    await count(page, 'fewer than 10 people');
    await page.context().close();
  });

  test('wait for the limit of calls, and say what to do about a search that is too slow', async () => {
    const { page } = await openAt('/search');
    const problem = (status: number, more: object) => ({ status, json: { status, ...more } });
    const limited = problem(429, { code: 'rate_limited', detail: 'Too many.', retry_after: 0.1 });
    const preview = '**/personsearch/preview?*';
    await page.route(preview, (route) => route.fulfill(limited), { times: 2 });
    await text(page).fill('positionIds=21');
    await count(page, 'about 10 people');
    const slow = problem(503, { code: 'search_timeout', detail: 'Longer than a call may.' });
    await page.route('**/personsearch*', (route) => route.fulfill(slow));
    await page.route(preview, (route) => route.fulfill(slow));
    await text(page).fill('surname=*');
    await page.getByText('These people take too long to count').waitFor();
    await page.getByRole('link', { name: 'People' }).click();
    await page.getByRole('button', { name: /^Show up to 25 people/ }).waitFor();
    await page.context().close();
  });

  test('show people for the price that was said, on a page that stays', async () => {
    const { page, wrong, caller } = await openAt(searchAt('positionIds=20', 'people'), 11);
    await heading(page, 'About 30 people').waitFor();
    // What they are before they are paid: groups, and none of fewer than ten.
    await heading(page, 'Who they are').waitFor();
    await page.getByRole('rowheader', { name: 'Engineer' }).waitFor();
    await page.getByText('France').first().waitFor();
    await expectAccessible(page);
    await page.getByLabel('How many').selectOption('25');
    await page.getByText('This needs up to 25 credits, and the account has 11.').waitFor();
    await page.getByText('enrich credits grant').waitFor();
    await page.getByLabel('How many').selectOption('10');
    await page.getByRole('button', { name: 'Show up to 10 people, 10 credits at most' }).click();
    await page.getByText('Finding people').waitFor();
    await pipeline.runUntilIdle();
    const name = page.getByRole('button', { name: 'Ann1 Example' });
    await name.click();
    expect(await name.getAttribute('aria-expanded')).toBe('true');
    await page.getByText('Welding, C++').waitFor();
    await expectAccessible(page);
    expect(await spent(caller)).toBe(10);
    await page.reload();
    await page.getByRole('button', { name: 'Ann10 Example' }).waitFor();
    expect(await page.getByRole('button', { name: /^Ann\d+ Example$/ }).count()).toBe(10);
    const tab = await openTab(await page.context().newPage(), page.url());
    await tab.page.getByRole('button', { name: 'Ann1 Example' }).waitFor();
    expect(await spent(caller)).toBe(10);
    // The next ones are others, up to the price again.
    await page
      .getByRole('button', { name: 'Show up to 10 more people, 10 credits at most' })
      .click();
    await page.getByText('Finding people').waitFor();
    await pipeline.runUntilIdle();
    await page.getByRole('button', { name: 'Ann11 Example' }).waitFor();
    expect(await spent(caller)).toBe(11);
    await goTo(page, 'Exports');
    await page
      .getByRole('link', { name: /^Engineer · 10 people · \d{4}-\d\d-\d\d$/ })
      .first()
      .waitFor();
    await expectAccessible(page);
    expect(wrong).toEqual([]);
    await page.context().close();
  });

  test('say before each price how many are owned', async () => {
    const { page, caller } = await openAt(searchAt('positionIds=20', 'export'));
    await changeOwnedDays(pipeline.sql, caller.accountId, 30);
    await pipeline.makeExport(caller, { name: 'x', filter: 'positionIds=20', max_results: 12 });
    await pipeline.runUntilIdle();
    await page.reload();
    await page.getByText('You already have 12 of these. They are in the file').waitFor();
    await page.getByLabel('Preview of the search').getByText('You already have 12').waitFor();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('Finding people').waitFor();
    await pipeline.runUntilIdle();
    await page.getByText('You already have 12 of these.').waitFor();
    await page.getByText('22 credits at most').waitFor();
    expect(await page.getByText('are charged again').count()).toBe(0);
    await page.getByRole('button', { name: 'Start for about 18 credits' }).click();
    await heading(page, 'Progress').waitFor();
    await untilSpent(caller, 30);
    await page.context().close();
  });

  test('export a search with its price first, and give the file', async () => {
    const { page, wrong, caller } = await openAt(searchAt('positionIds=20', 'export'));
    await count(page, 'about 30 people');
    await page.getByLabel('Name').fill('Engineers');
    await page.getByLabel('Max people').fill('1o');
    await page.getByRole('radio', { name: 'Custom' }).check();
    await page.getByRole('button', { name: 'All of Work' }).click();
    await page.getByRole('button', { name: 'None of Work' }).click();
    await expectAccessible(page);
    await page.getByRole('radio', { name: 'Essentials' }).check();
    await page.getByLabel('Max people').fill('11');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('Finding people').waitFor();
    await pipeline.runUntilIdle();
    await page.getByText('for about 10 people').waitFor();
    await page.getByText('approximate until you pay: 11 credits at most').waitFor();
    await page.getByText('People you already paid for are charged again.').waitFor();
    await expectAccessible(page);
    expect(await spent(caller)).toBe(0);
    await page.getByRole('button', { name: 'Start for about 10 credits' }).click();
    await heading(page, 'Progress').waitFor();
    await untilSpent(caller, 11);
    await heading(page, 'Results').waitFor();
    await page.getByRole('button', { name: 'Ann1 Example' }).waitFor();
    await expectAccessible(page);
    expect(await spent(caller)).toBe(11);
    await page.getByLabel('Format of the file').selectOption('CSV for spreadsheets');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^Engineers \d{4}-\d\d-\d\d\.csv$/);
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\n');
    expect(lines[0]).toContain('person.workEmail');
    expect(lines).toHaveLength(1 + 11);
    await goTo(page, 'Exports');
    await page.getByRole('link', { name: 'Engineers' }).waitFor();
    await expectAccessible(page);
    expect(wrong).toEqual([]);
    await page.context().close();
  });

  test('save a search as a schedule, with its next five times, and show what came of its runs', async () => {
    const { page, wrong, caller } = await openAt(searchAt('positionIds=21', 'schedule'));
    await page.getByLabel('Name').fill('New managers');
    await page.getByLabel('Runs').selectOption('Monday to Friday');
    await page.getByLabel('At', { exact: true }).fill('22:30');
    await page.getByLabel('Time zone').selectOption(zone);
    const expected = nextRuns('30 22 * * 1-5', zone, new Date(), 5).map((run) => run.toISOString());
    const shown = () =>
      page
        .locator('.next-runs time')
        .evaluateAll((times) => times.map((time) => time.getAttribute('datetime')));
    await expect.poll(shown).toEqual(expected);
    await page
      .getByText(/in Paris \(Europe\)/)
      .first()
      .waitFor();
    await page.getByLabel('Runs').selectOption('Cron expression');
    await page.getByLabel('Cron expression').fill('30 25 * * *');
    await page.getByText(/hour `25` at position 4/).waitFor();
    await expectAccessible(page);
    await page.getByLabel('Cron expression').fill('30 22 * * 1-5');
    await expect.poll(shown).toEqual(expected);
    await page.getByRole('button', { name: 'Save the schedule' }).click();
    await page.getByText('It has not run yet').waitFor();
    await heading(page, 'Monday to Friday at 22:30').waitFor();

    const [first = '', second = ''] = expected;
    await runDueSchedules(pipeline.context, new Date(first));
    await runDueSchedules(pipeline.context, new Date(second));
    await pipeline.runUntilIdle();
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByText('the previous run had not ended').waitFor();
    expect(await spent(caller)).toBe(12);
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Open the export' }).click();
    await heading(page, 'Results').waitFor();
    await page.getByRole('link', { name: 'Its schedule' }).click();

    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('radio', { name: 'Everyone, each time' }).check();
    // Without a bound each run charges for everyone, for ever.
    await page.getByRole('button', { name: 'Save the schedule' }).click();
    await page.getByText('Enter the maximum credits for a run').first().waitFor();
    await page.getByLabel('Max credits').fill('50');
    await page.getByText(/credits a month/).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Save the schedule' }).click();
    await page.getByText('Every run exports and charges').waitFor();
    await page.getByRole('link', { name: 'Change it' }).click();
    await text(page).fill('positionIds=[20|21]');
    await page.getByRole('button', { name: 'Save to the schedule' }).click();
    await page.getByText('Engineer or Engineering Manager').waitFor();
    const [stored] = await pipeline.sql`
      select filter, mode, max_credits, cron, time_zone, enabled from schedules
      where account_id = ${caller.accountId}`;
    expect(stored).toEqual({
      filter: 'positionIds=[20|21]',
      mode: 'all',
      maxCredits: 50,
      cron: '30 22 * * 1-5',
      timeZone: zone,
      enabled: true,
    });

    await goTo(page, 'Schedules');
    const own = page.getByRole('switch', { name: 'New managers: runs automatically' });
    await own.click();
    await page.getByText('Turned off').waitFor();
    expect(await own.getAttribute('aria-checked')).toBe('false');
    await expectAccessible(page);
    await page.getByRole('link', { name: 'New managers' }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete the schedule' }).click();
    await heading(page, 'No schedules yet').waitFor();
    await expectAccessible(page);
    expect(wrong).toEqual([]);
    await page.context().close();
  });
});
