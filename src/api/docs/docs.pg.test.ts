import type { Browser, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startChromium } from '../../../bench/browser.ts';
import { buildIfStale } from '../../../tests/e2e/compiled-code.ts';
import { describeWithBrowser } from '../../../tests/support/browser.ts';
import {
  expectAccessible,
  openConsole,
  signInWithKey,
} from '../../../tests/support/console-page.ts';
import { openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { accountScopes, createKey } from '../../core/keys/keys.ts';
import { must } from '../../core/lib/assert.ts';
import { renderOpenApi } from '../openapi/openapi.ts';
import { documentedRoutes } from '../routes.ts';
import { sentence } from './markup.ts';
import type { OpenApiDocument } from './open-api-document.ts';
import { renderPage } from './render-page.ts';

const document = JSON.parse(JSON.stringify(renderOpenApi(documentedRoutes))) as OpenApiDocument;
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));

let pipeline: Pipeline;
let html: string;
beforeAll(async () => {
  await buildIfStale();
  pipeline = await openPipeline();
  html = await (await pipeline.call(null, '/docs')).text();
});
afterAll(() => pipeline.close());

describe('the page needs no other host', () => {
  test('and no key', async () => {
    const response = await pipeline.call(null, '/docs');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  });

  test('every address in it is one of this service, and is there', async () => {
    const addresses = [...html.matchAll(/\s(?:href|src|action)="([^"]*)"/g)].map(
      (match) => match[1] ?? '',
    );
    expect(addresses.length).toBeGreaterThan(operations.length);
    for (const address of new Set(addresses)) {
      if (address === 'data:,') continue;
      expect(address).toMatch(/^(#|\/(?!\/))/);
      if (address.startsWith('#')) expect(html).toContain(`id="${address.slice(1)}"`);
      else expect((await pipeline.call(null, address)).status, address).toBe(200);
    }
  });

  test('neither do its style and script', async () => {
    for (const path of ['/docs/style.css', '/docs/script.js']) {
      const text = await (await pipeline.call(null, path)).text();
      expect(text).not.toMatch(/https?:|\/\/\w|@import|url\(|XMLHttp|\bimport\b/);
    }
  });

  test('its policy lets nothing in but those of this service', async () => {
    for (const path of ['/docs', '/docs/style.css', '/docs/script.js']) {
      const { headers } = await pipeline.call(null, path);
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toMatch(/unsafe|https?:|\*/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
    expect(html).not.toMatch(/<style|\sstyle=|<script(?! src=)|\son[a-z]+=/);
  });
});

describe('the page says', () => {
  test('every operation with its address, price, errors and a call', () => {
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        const [, rest = ''] = html.split(`<article id="${operation.operationId}"`);
        const [article = ''] = rest.split('</article>');
        expect(article).toContain(path);
        expect(article).toContain(`Credits: ${operation['x-credits'] ?? 0}.`);
        expect(article).toMatch(method === 'get' ? /curl &quot;/ : /curl -X [A-Z]+ &quot;/);
        for (const { name, schema } of operation.parameters) {
          expect(article).toContain(name);
          expect(schema.description, `${path} ${name}`).toMatch(/\w.*\w/);
          expect(article).toContain(sentence(schema.description ?? ''));
        }
        for (const status of Object.keys(operation.responses)) expect(article).toContain(status);
      }
    }
  });

  test('all text as text', () => {
    const evil = '<img src=x onerror=alert(1)>"\'&';
    const [path = '', methods = {}] = must(Object.entries(document.paths)[0], 'path');
    const [method = '', operation] = must(Object.entries(methods)[0], 'operation');
    const changed = { ...operation, summary: evil, tags: [evil] };
    const page = renderPage({ ...document, paths: { [path]: { [method]: changed } } }, evil);
    expect(page).not.toContain('<img');
  });
});

describeWithBrowser('in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startChromium();
  });
  afterAll(() => browser.close());

  test.each([
    ['light', 1280],
    ['dark', 360],
  ] as const)(
    '%s at %i pixels: no error, no other host, no scroll sideways',
    async (scheme, width) => {
      const page = await browser.newPage({
        colorScheme: scheme,
        reducedMotion: 'reduce',
        viewport: { width, height: 640 },
      });
      const wrong: string[] = [];
      page.on('console', (line) => {
        if (['error', 'warning'].includes(line.type())) wrong.push(line.text());
      });
      page.on('pageerror', (error) => wrong.push(error.message));
      page.on('request', (request) => {
        const url = request.url();
        if (!url.startsWith(pipeline.url) && !url.startsWith('data:')) wrong.push(url);
      });
      page.on('requestfailed', (request) => wrong.push(`${request.url()} failed`));
      await page.goto(`${pipeline.url}/docs`, { waitUntil: 'load' });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      // The meaning of a parameter is read without scrolling its table.
      const hidden = `Math.max(...[...document.querySelectorAll('article .scroll')].map(
        (one) => one.scrollWidth - one.clientWidth))`;
      if (width >= 1280) expect(await page.evaluate(hidden)).toBe(0);
      await expectAccessible(page);
      // By keyboard alone: the first stop skips to the operations, the search finds one and goes there.
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.className')).toBe('skip');
      await page.getByRole('searchbox', { name: 'Find an operation' }).fill('job-titles');
      await page.getByText(`1 of ${operations.length} operations`).waitFor();
      await page.keyboard.press('Enter');
      expect(new URL(page.url()).hash).toBe('#get_lookups_job_titles');
      expect(wrong).toEqual([]);
      await page.close();
    },
  );

  test('it offers no copy where the browser gives no clipboard, as over plain HTTP', async () => {
    const page = await browser.newPage();
    await page.addInitScript(`Object.defineProperty(navigator, 'clipboard', { value: undefined })`);
    await page.goto(`${pipeline.url}/docs`);
    const article = page.locator('#get_people_enrich');
    await article.getByRole('button', { name: 'Try it' }).waitFor();
    expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(0);
    await page.close();
  });

  test('it shows the address of this service, copies examples and tries them with a test key', async () => {
    const context = await browser.newContext({
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const page = await context.newPage();
    await page.goto(`${pipeline.url}/docs`);
    await page.getByText(`export API=${pipeline.url} KEY=`).waitFor();
    const article = page.locator('#get_people_enrich');
    await article.getByRole('button', { name: 'Copy' }).click();
    await article.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate('navigator.clipboard.readText()');
    expect(copied).toContain('curl "$API/v1/people/enrich?email=ada%40acme.example"');
    await article.getByRole('button', { name: 'Try it' }).press('Enter');
    const focused = () => page.evaluate("document.activeElement.getAttribute('aria-label')");
    expect(await focused()).toBe('Path and query');
    const live = await pipeline.account(5);
    for (const key of ['', live.key]) {
      await page.getByLabel('Test key').fill(key);
      await article.getByRole('button', { name: 'Send' }).click();
      // The reason is where the reader looks, and leads to the key.
      await article.getByRole('link', { name: 'Enter a test key first.' }).waitFor();
      expect(await article.getByRole('button', { name: 'Send' }).isVisible()).toBe(true);
    }
    const { key } = await createKey(pipeline.sql, { accountId: live.accountId, mode: 'test' });
    await page.getByLabel('Test key').fill(key);
    await article.getByLabel('Path and query').fill('/v1/me');
    await article.getByRole('button', { name: 'Send' }).click();
    await article
      .getByRole('status')
      .getByText(/^200 OK\n\{\n/)
      .waitFor();
    // The answer to an earlier one may come last.
    const sent = (path: string) =>
      article
        .getByLabel('Path and query')
        .fill(path)
        .then(() => article.getByRole('button', { name: 'Send' }).click());
    const held: Route[] = [];
    await page.route('**/v1/me?first', (route) => void held.push(route));
    await sent('/v1/me?first');
    await expect.poll(() => held.length).toBe(1);
    await sent('/v1/me');
    await article
      .getByRole('status')
      .getByText(/^200 OK/)
      .waitFor();
    const fulfilled = held[0]?.fulfill({ status: 400, body: 'late' });
    await fulfilled?.catch(() => {});
    await page.evaluate("fetch('/healthz').then((response) => response.text())");
    expect(await article.getByRole('status').textContent()).toMatch(/^200 OK/);
    // A copy of the key would go to any other address.
    await sent('//other.example/v1/me');
    await article.getByText('The path must begin with /.').waitFor();
    expect((await pipeline.wallet(live))?.balance).toBe(5);
    await context.close();
  });

  test('its frame has the pages of the console', async () => {
    const { page } = await openConsole(browser, pipeline.url);
    const { accountId } = await pipeline.account(5);
    const input = { accountId, mode: 'live' as const, scopes: [...accountScopes] };
    await signInWithKey(page, (await createKey(pipeline.sql, input)).key);
    const linksOf = () =>
      page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allTextContents();
    await page.getByRole('link', { name: 'API', exact: true }).waitFor();
    const links = await linksOf();
    await page.getByRole('link', { name: 'API', exact: true }).click();
    await page.getByRole('heading', { name: 'API', level: 1 }).waitFor();
    expect(await linksOf()).toEqual(links.map((text) => text.trim()));
    await page.context().close();
  });
});
