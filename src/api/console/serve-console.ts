/** Serves the web console: one page at `/`, its modules, and sessions. */
import { type Request, type Response, Router } from 'express';
import type { ApiContext } from '../http/api-context.ts';
import { type Asset, readConsoleAssets } from './console-assets.ts';
import { serveSessions } from './session-routes.ts';

/** Everything is loaded from this service, and the only inline script is the import map. */
const policyWith = (importMapHash: string) =>
  [
    "default-src 'none'",
    `script-src 'self' 'sha256-${importMapHash}'`,
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

export function serveConsole(context: ApiContext): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.get('/', async (request, response) => {
    const { index, importMapHash } = await readConsoleAssets();
    response.setHeader('Content-Security-Policy', policyWith(importMapHash));
    // Over plain HTTP this is the only header by which a browser reports where a call comes from.
    response.setHeader('Referrer-Policy', 'same-origin');
    response.setHeader('Cache-Control', 'no-cache');
    send(request, response, index);
  });
  router.use(serveSessions(context));
  router.get('/console/*path', async (request, response, next) => {
    const asset = (await readConsoleAssets()).files.get(request.path);
    if (asset === undefined) return next();
    response.setHeader('Cache-Control', 'public, max-age=31536000, immutable');
    send(request, response, asset);
  });
  return router;
}

function send(request: Request, response: Response, { type, bytes }: Asset): void {
  const encoding = request.acceptsEncodings('br', 'gzip', 'identity') || 'identity';
  response.vary('Accept-Encoding');
  if (encoding !== 'identity') response.setHeader('Content-Encoding', encoding);
  response.type(type).send(bytes[encoding as keyof Asset['bytes']]);
}
