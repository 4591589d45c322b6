/** Decodes Windows-1252, the encoding of damaged lines and of most lists that are not UTF-8. */

/** A WHATWG encoding name in lower case, e.g. `utf-8`, `utf-16le`, `windows-1252`. */
export type Encoding = string;

// The 0x80-0x9F row of windows-1252 in the Encoding Standard (https://encoding.spec.whatwg.org/).
// Not by TextDecoder: Node 20.18.3 to 24 read it there as Latin-1 (nodejs/node#56542).
const WINDOWS1252_ROW =
  '\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d' +
  '\u017d\u008f\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a' +
  '\u0153\u009d\u017e\u0178';
const WINDOWS1252_BYTES = /[\x80-\x9f]/g;

/** Every byte has a character in Windows-1252, so this cannot fail. */
export function decodeWindows1252(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replace(WINDOWS1252_BYTES, (byte) => WINDOWS1252_ROW.charAt(byte.charCodeAt(0) - 0x80));
}
