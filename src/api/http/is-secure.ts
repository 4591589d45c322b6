import type { Request } from 'express';

/**
 * Returns true for a request over HTTPS, also to a proxy before us. Every proxy is trusted: a false claim can only make the
 * caller's own cookie, or the addresses of its own manifest, stricter.
 */
export function isSecure(request: Request): boolean {
  return request.secure || request.get('X-Forwarded-Proto') === 'https';
}
