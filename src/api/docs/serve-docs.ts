/** Serves the page for humans at `/docs`, offline and under a policy that lets nothing else in. */
import type { RequestHandler } from 'express';
import { Router } from 'express';
import type { OpenApiDocument } from './open-api-document.ts';
import { pageScript, pageStyle } from './page-assets.ts';
import { renderPage } from './render-page.ts';

/**
 * Tighter than what the API's answers carry, and without the upgrade to HTTPS that would keep the style
 * from a page that is served by plain HTTP in a private network.
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
  // As bytes: a text would be copied for every reader, and held for the slow ones.
  const bytes = Buffer.from(text);
  return (_request, response) => {
    response.setHeader('Content-Security-Policy', policy);
    response.setHeader('Cache-Control', 'no-cache');
    response.type(type).send(bytes);
  };
}
