/** Tables and figures of generated pages. */

/** A table of Markdown. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(heads), `|${'---|'.repeat(heads.length)}`, ...rows.map(line)].join('\n');
}

/** A figure with as many digits as it deserves; a dash for none. */
export function figure(value: number | null): string {
  if (value === null) return '-';
  return value >= 100 ? grouped(Math.round(value)) : value.toFixed(2);
}

/** With commas between thousands. */
export function grouped(value: number): string {
  return value.toLocaleString('en-GB');
}
