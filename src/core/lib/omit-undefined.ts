/** Returns an object without the members that are undefined, as for a change that leaves the others as they are. */
export function omitUndefined<Given extends object>(
  given: Given,
): { [Name in keyof Given]?: Exclude<Given[Name], undefined> } {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as never;
}
