/** Serves the API reference at `/docs`, which loads nothing from other hosts. */
import type { RequestHandler } from 'express';
import { Router } from 'express';
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
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export function serveDocs(document: OpenApiDocument): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.get('/docs', fixed('text/html; charset=utf-8', renderPage(document)));
  router.get('/docs/style.css', fixed('text/css; charset=utf-8', pageStyle));
  router.get('/docs/script.js', fixed('text/javascript; charset=utf-8', pageScript));
  return router;
}

function fixed(type: string, text: string): RequestHandler {
  // As bytes: a string would be copied for every reader, and kept for slow ones.
  const bytes = Buffer.from(text);
  return (_request, response) => {
    response.setHeader('Content-Security-Policy', policy);
    response.setHeader('Cache-Control', 'no-cache');
    response.type(type).send(bytes);
  };
}
