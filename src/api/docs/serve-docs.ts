/** Serves the API reference at `/docs`, which loads nothing from other hosts. */
import type { RequestHandler, Response } from 'express';
import { Router } from 'express';
import { readConsoleAssets } from '../console/console-assets.ts';
import type { OpenApiDocument } from './open-api-document.ts';
import { pageScript, pageStyle } from './page-assets.ts';
import { renderPage } from './render-page.ts';

/**
 * Stricter than the policy of API responses, and without `upgrade-insecure-requests`, which would block the style of a
 * page that is served over plain HTTP in a private network.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  'img-src data:',
  // Calls that a reader tries with a test key.
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export function serveDocs(readDocument: () => OpenApiDocument): Router {
  const router = Router({ caseSensitive: true, strict: true });
  // Rendered on first use: most processes that serve the API serve no page.
  let page: Buffer | undefined;
  router.get('/docs', async (_request, response) => {
    const { stylesheet } = await readConsoleAssets();
    page ??= Buffer.from(renderPage(readDocument(), stylesheet));
    send(response, 'text/html; charset=utf-8', page);
  });
  router.get('/docs/style.css', fixed('text/css; charset=utf-8', pageStyle));
  router.get('/docs/script.js', fixed('text/javascript; charset=utf-8', pageScript));
  return router;
}

function fixed(type: string, text: string): RequestHandler {
  // As bytes: a string would be copied for every reader, and kept for slow ones.
  const bytes = Buffer.from(text);
  return (_request, response) => send(response, type, bytes);
}

function send(response: Response, type: string, bytes: Buffer): void {
  response.setHeader('Content-Security-Policy', policy);
  response.setHeader('Cache-Control', 'no-cache');
  response.type(type).send(bytes);
}
