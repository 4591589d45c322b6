/**
 * The accounts of keys and sessions that were found, by their hash: coalesced calls of an account have one turn, however many
 * keys it has. Those that were not found yet have one turn together: anyone can make up thousands.
 */
export interface KnownOwners {
  ownerOf(hash: string): string;
  remember(hash: string, accountId: string): void;
}

const KNOWN_MAX = 10_000;

/** Remembers as many owners as calls may come from at a time, the latest last. */
export function openKnownOwners(): KnownOwners {
  const accountOf = new Map<string, string>();
  return {
    ownerOf: (hash) => accountOf.get(hash) ?? 'unknown',
    remember(hash, accountId) {
      if (accountOf.has(hash)) return;
      accountOf.set(hash, accountId);
      const [oldest] = accountOf.keys();
      if (accountOf.size > KNOWN_MAX && oldest !== undefined) accountOf.delete(oldest);
    },
  };
}
