/** An account's live or test side: objects and the graph belong to one of the two. */
export interface Owner {
  accountId: string;
  live: boolean;
}

/** An owner with the key of a call: what the call makes counts towards the limits of that key. */
export interface OwnerWithKey extends Owner {
  keyId: string;
}
