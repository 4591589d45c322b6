import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startChromium } from '../../../bench/browser.ts';
import { describeWithBrowser } from '../../../tests/support/browser.ts';
import { openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { must } from '../../core/lib/assert.ts';
import { renderOpenApi } from '../openapi/openapi.ts';
import { routes } from '../routes.ts';
import type { OpenApiDocument } from './open-api-document.ts';
import { renderPage } from './render-page.ts';

const document = JSON.parse(JSON.stringify(renderOpenApi(routes))) as OpenApiDocument;
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));

let pipeline: Pipeline;
let html: string;
beforeAll(async () => {
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
      expect(text).not.toMatch(/https?:|\/\/\w|@import|url\(|\bfetch\b|XMLHttp|\bimport\b/);
    }
  });

  test('its policy lets nothing in but those two', async () => {
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
        for (const { name } of operation.parameters) expect(article).toContain(name);
        for (const status of Object.keys(operation.responses)) expect(article).toContain(status);
      }
    }
  });

  test('all text as text', () => {
    const evil = '<img src=x onerror=alert(1)>"\'&';
    const [path = '', methods = {}] = must(Object.entries(document.paths)[0], 'path');
    const [method = '', operation] = must(Object.entries(methods)[0], 'operation');
    const changed = { ...operation, summary: evil, tags: [evil] };
    const page = renderPage({ ...document, paths: { [path]: { [method]: changed } } });
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
      const look = await page.evaluate(
        `({ wide: document.documentElement.scrollWidth, back: getComputedStyle(document.body).backgroundColor })`,
      );
      expect(look).toEqual({
        wide: width,
        back: scheme === 'dark' ? 'rgb(20, 23, 27)' : 'rgb(255, 255, 255)',
      });
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
});
