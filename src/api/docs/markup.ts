/** Converts text to HTML. All text of the page passes one of these functions. */

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}

/** Returns the HTML of a sentence in which backticks mark code. */
export function sentence(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}

export function code(text: string): string {
  return `<code>${escapeHtml(text)}</code>`;
}

/** Returns a table that scrolls by itself when it is wider than the screen, also by keyboard. */
export function table(label: string, head: readonly string[], rows: readonly string[][]): string {
  const headCells = head.map((text) => `<th scope="col">${escapeHtml(text)}</th>`).join('');
  const body = rows.map(([first = '', ...rest]) => {
    const cells = rest.map((cell) => `<td>${cell}</td>`).join('');
    return `<tr><th scope="row">${first}</th>${cells}</tr>`;
  });
  return `<div class="scroll" role="region" tabindex="0" aria-label="${escapeHtml(label)}"><table>
<thead><tr>${headCells}</tr></thead><tbody>${body.join('\n')}</tbody></table></div>`;
}
