interface Dated {
  id: string;
  created_at: string;
  /** Rises with every change. */
  revision: number;
}

/** The items, each in its newest state. */
export function updateItems<Item extends Dated>(
  items: readonly Item[],
  latest: readonly Item[] | null,
): Item[] {
  const known = new Map(latest?.map((item) => [item.id, item]));
  return items.map((item) => {
    const now = known.get(item.id);
    return now !== undefined && now.revision > item.revision ? now : item;
  });
}

/** The items as they are in the latest first page, and those of the pages after it, both newest first. */
export function mergeItems<Item extends Dated>(
  items: readonly Item[],
  latest: readonly Item[] | null,
): Item[] {
  const last = latest?.at(-1);
  if (latest === null || last === undefined) return [...items];
  const first = updateItems(latest, items);
  const ids = new Set(latest.map(({ id }) => id));
  // An item that should be among the first and is not has been deleted.
  const older = items.filter(({ id, created_at }) => !ids.has(id) && created_at < last.created_at);
  return [...first, ...older];
}
