/** Levels of objects and lists; records have five. A deeper value overflows the stack of the code that writes or shows it. */
export const JSON_LEVELS_MAX = 64;

/** Returns true when a value, parsed from this text, has more levels. */
export function isTooDeep(text: string, value: unknown): boolean {
  // Most texts have fewer brackets in all.
  const brackets = text.match(/[[{]/g)?.length ?? 0;
  return brackets > JSON_LEVELS_MAX && hasMoreLevels(value, JSON_LEVELS_MAX);
}

function hasMoreLevels(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => hasMoreLevels(inner, levels - 1));
}
