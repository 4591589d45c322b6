/**
 * Returns the function with its results kept by text, for texts that a list repeats a thousand times. Forgets all of
 * them at the maximum; results must not be changed.
 */
export function remember<Value>(
  compute: (text: string) => Value,
  textsMax: number,
): (text: string) => Value {
  const known = new Map<string, Value>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const value = compute(text);
    if (known.size >= textsMax) known.clear();
    known.set(text, value);
    return value;
  };
}
