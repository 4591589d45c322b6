/** The form of ids that a caller gives. */

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Returns true for a text of the form of our ids (RFC 9562): Postgres refuses to compare any other text with one. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
