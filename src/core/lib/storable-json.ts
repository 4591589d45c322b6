/** JSON that Postgres can store and take apart. */

/** Any escape in JSON text, so that the second half of an escaped backslash begins none. */
const ESCAPE = /\\(u0000|ud[89a-f][\da-f]{2}|.)/g;

/**
 * Returns the value as JSON, with U+FFFD for NULs and lone surrogates, which texts of callers and files may have. Postgres
 * takes neither as `jsonb`; as `json` it stores them, and every statement that looks inside fails.
 */
export function toStorableJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(ESCAPE, (one: string, code: string) =>
    code.length > 1 ? String.raw`\ufffd` : one,
  );
}
