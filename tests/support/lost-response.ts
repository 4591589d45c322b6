import { vi } from 'vitest';

/**
 * Loses the response to the first request of this method, which the service has done, until mocks are restored. Returns how many
 * requests of it were sent.
 */
export function loseFirstResponse(method: 'GET' | 'POST'): () => number {
  const { fetch } = globalThis;
  let sent = 0;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (...call) => {
    const response = await fetch(...call);
    if (call[1]?.method !== method || sent++ > 0) return response;
    throw new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } });
  });
  return () => sent;
}
