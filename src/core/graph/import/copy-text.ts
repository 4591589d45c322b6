/**
 * Text in the format of `copy ... from stdin`: cells separated by tabs, one line per row, `\N` for null. Every
 * text that enters the graph is cleaned here once.
 */

/** A cell before it is written; an array is the cell of a `text[]` column. */
export type CopyCell = string | number | null | readonly string[];

/** Everything but C0 controls, the backslash and surrogates: text that needs no cleaning. */
const PLAIN_TEXT = /^[ -[\]-\ud7ff\ue000-\uffff]*$/;
const COPY_SPECIAL = /[\\\t\n\r]/;

/**
 * Cleans a text for the graph: removes C0 controls (one separates the cells of stored records, SQL refuses
 * another), except tab, line feed and carriage return; lone surrogates become U+FFFD.
 */
export function cleanText(text: string): string {
  if (PLAIN_TEXT.test(text)) return text;
  let clean = '';
  let from = 0;
  for (let index = 0; index < text.length; index += 1) {
    if (!isStrippedControl(text.charCodeAt(index))) continue;
    clean += text.slice(from, index);
    from = index + 1;
  }
  return (clean + text.slice(from)).replace(/\p{Surrogate}/gu, '\ufffd');
}

function isStrippedControl(code: number): boolean {
  return code < 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d;
}

/** One cell, escaped. Texts must be clean already. */
export function copyCell(cell: CopyCell): string {
  if (cell === null) return '\\N';
  if (typeof cell === 'number') return String(cell);
  if (typeof cell === 'string') return escapeText(cell);
  return escapeText(`{${cell.map(quoteElement).join(',')}}`);
}

/** One line of COPY text with its line feed. */
export function copyLine(cells: readonly CopyCell[]): string {
  return `${cells.map(copyCell).join('\t')}\n`;
}

function escapeText(text: string): string {
  if (!COPY_SPECIAL.test(text)) return text;
  return text
    .replaceAll('\\', '\\\\')
    .replaceAll('\t', '\\t')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r');
}

function quoteElement(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
