/** Text of others, as names and headers are, for a terminal. */

/** Characters that a terminal obeys, other than a tab, and those that turn the direction of a text. */
const OBEYED = /(?!\t)[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** One line as a terminal shows it. */
export function harmless(line: string): string {
  return line.replaceAll(OBEYED, '\ufffd');
}

/** JSON that means the same, and that a terminal shows as well: the characters that it obeys are escaped. */
export function harmlessJson(json: string): string {
  const escaped = (found: string) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`;
  // The ends of lines are between the values: in a text they are escaped already.
  return json.replaceAll(OBEYED, (found) => (found === '\n' ? found : escaped(found)));
}
