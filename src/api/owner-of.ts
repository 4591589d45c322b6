import type { Owner, OwnerWithKey } from '../core/accounts/owner.ts';
import type { ApiKey } from '../core/keys/keys.sql.ts';

/** Returns the owner of the objects that a key sees: its account, in its mode. */
export function ownerOf(key: ApiKey): Owner {
  return { accountId: key.accountId, live: key.mode === 'live' };
}

/** Returns the same with the key, for a call that makes or moves a batch. */
export function ownerWithKeyOf(key: ApiKey): OwnerWithKey {
  return { ...ownerOf(key), keyId: key.id };
}
