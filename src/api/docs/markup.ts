/** Text into HTML. Everything that the page shows passes one of these. */

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

/** A sentence in which backticks mark code. */
export function sentence(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}

export function code(text: string): string {
  return `<code>${escapeHtml(text)}</code>`;
}

/** A table that may be wider than the screen: it scrolls by itself, with the keyboard too. */
export function table(label: string, head: readonly string[], rows: readonly string[][]): string {
  const headCells = head.map((text) => `<th scope="col">${escapeHtml(text)}</th>`).join('');
  const body = rows.map(([first = '', ...rest]) => {
    const cells = rest.map((cell) => `<td>${cell}</td>`).join('');
    return `<tr><th scope="row">${first}</th>${cells}</tr>`;
  });
  return `<div class="scroll" role="region" tabindex="0" aria-label="${escapeHtml(label)}"><table>
<thead><tr>${headCells}</tr></thead><tbody>${body.join('\n')}</tbody></table></div>`;
}
