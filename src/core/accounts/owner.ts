/** An account's live or test side: objects and the graph belong to one of the two. */
export interface Owner {
  accountId: string;
  live: boolean;
}
