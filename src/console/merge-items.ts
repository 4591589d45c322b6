interface Dated {
  id: string;
  created_at: string;
  /** Rises with every change. */
  revision: number;
}

/** The items as they are in the latest first page, and those of the pages after it. */
export function mergeItems<Item extends Dated>(
  items: readonly Item[],
  latest: readonly Item[] | null,
): Item[] {
  const last = latest?.at(-1);
  if (latest === null || last === undefined) return [...items];
  const known = new Map(items.map((item) => [item.id, item]));
  const first = latest.map((item) => {
    const before = known.get(item.id);
    return before !== undefined && before.revision > item.revision ? before : item;
  });
  const ids = new Set(latest.map(({ id }) => id));
  // An item that should be among the first and is not has been deleted.
  const older = items.filter(({ id, created_at }) => !ids.has(id) && created_at < last.created_at);
  return [...first, ...older];
}
