/** The text of cells, and the escapes of characters that XML forbids (ECMA-376 part 1, 22.9.2.19). */

const ESCAPED = /_x([0-9A-Fa-f]{4})_/g;

/** `_x000D_` in a workbook's text is the character itself; `_x0000_` stays, because lists contain no NUL. */
export function unescapeCell(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(ESCAPED, (whole, hex: string) =>
    hex === '0000' ? whole : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** Characters that XML cannot contain, and CR, which XML reads as LF. */
const unwritable = String.raw`\0-\x08\x0b\x0c\r\x0e-\x1f\ufffe\uffff`;
/** Those, and a `_` that begins what looks escaped, also when only the next escape closes it. */
const toEscape = new RegExp(`[${unwritable}]|_(?=x[0-9A-Fa-f]{4}[_${unwritable}])`, 'g');
const MARKUP = /[&<>]/g;
const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Escapes a text for an element of a workbook; `unescapeCell` reverses it. */
export function escapeCell(text: string): string {
  return text
    .replace(
      toEscape,
      (found) => `_x${found.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
    )
    .replace(MARKUP, (found) => entities[found] ?? found);
}
