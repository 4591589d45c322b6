import type { Owner } from '../core/accounts/owner.ts';
import type { ApiKey } from '../core/keys/keys.sql.ts';

/** Returns the owner of the objects that a key sees: its account, in its mode. */
export function ownerOf(key: ApiKey): Owner {
  return { accountId: key.accountId, live: key.mode === 'live' };
}
