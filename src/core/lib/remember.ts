/** A longer text is hardly repeated. A cell of a list may have 128 KiB, and twenty thousand of those fill any memory. */
const CHARACTERS_MAX = 1_000;

/**
 * Returns the function with its results kept by text, for texts that a list repeats a thousand times. Keeps at most
 * `textsMax`, those used last among them; results must not be changed.
 */
export function remember<Value>(
  compute: (text: string) => Value,
  textsMax: number,
): (text: string) => Value {
  let recent = new Map<string, Value>();
  let earlier = new Map<string, Value>();
  return (text) => {
    if (text.length > CHARACTERS_MAX) return compute(text);
    const found = recent.get(text);
    if (found !== undefined) return found;
    const own = apart(text);
    const value = earlier.get(own) ?? compute(own);
    if (recent.size >= textsMax / 2) {
      earlier = recent;
      recent = new Map();
    }
    recent.set(own, value);
    return value;
  };
}

/**
 * Copies a text: V8 cuts a slice without copying, and keeps the megabytes that it was cut from as long as the slice. To
 * slice a concatenation copies it.
 */
function apart(text: string): string {
  return ` ${text}`.slice(1);
}
