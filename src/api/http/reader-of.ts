import type { ListReader } from '../../jobs/list/reading-turns.ts';
import { clientGone } from './client-gone.ts';
import type { RouteInput } from './define-route.ts';

/** The one who waits for a reading turn: the account of the key, as long as its client is there. */
export function readerOf({ key, response }: Pick<RouteInput, 'key' | 'response'>): ListReader {
  return { accountId: key.accountId, signal: clientGone(response) };
}
