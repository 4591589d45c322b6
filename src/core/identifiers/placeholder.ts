/** Texts that people and programs write into a cell when they have no value for it. */

const placeholders: ReadonlySet<string> = new Set([
  ...'n/a na n.a. n.a n\\a #n/a none null nil nan undefined unknown missing empty tbd tbc tba'.split(
    ' ',
  ),
  ...'keine kein k.a. k.a unbekannt inconnu inconnue aucun aucune desconocido desconhecido'.split(
    ' ',
  ),
  ...'ninguno ninguna nessuno nessuna nenhum nenhuma sconosciuto onbekend geen nvt n.v.t.'.split(
    ' ',
  ),
  ...'okänd saknas ukendt ukjent brak nieznane nincs нет неизвестно 不明 なし 无'.split(' '),
  ...'#ref! #value! #name? #null! #num! #div/0!'.split(' '),
  ...['n. a.', 'k. a.', 'keine angabe', 'not available', 'not applicable', 'not provided'],
  ...['not specified', 'not known', 'no data', 'no value', 'non renseigné', 'no disponible'],
]);
const CHARACTERS_MAX = 20;
const SIGNS = /^[-–—.?*/\\]+$/;
const FLAG = /^(?:yes|no|true|false|y|n|x|ja|nein|nee|oui|non|si|sí|sì|sim|tak|nie|[01])$/i;
const BRACKETS = /^[([<{]|[)\]>}]$/g;

/** Returns true for a cell that says that there is no value; an empty one is none. */
export function isPlaceholder(text: string): boolean {
  if (text.length > CHARACTERS_MAX) return false;
  // Of every cell of a list: no pattern before one sign.
  const tidy = text.trim().toLowerCase();
  const bare = '([<{'.includes(tidy.charAt(0)) ? tidy.replace(BRACKETS, '') : tidy;
  return placeholders.has(bare) || SIGNS.test(bare);
}

/**
 * Returns the text, or '' for a placeholder. A placeholder must be neither looked up nor stored: `nan` may be the handle of a
 * person, and `None` a company.
 */
export function withoutPlaceholder(text = ''): string {
  return isPlaceholder(text) ? '' : text;
}

/** The label of a link, shown in place of its address, or the state of a contact. */
const LINK_LABEL = new RegExp(
  '^(?:links?|lien|enlace|url|profile?|perfil|profilo|profiel|view|voir|ver|ansehen|open|here|hier|click|klick|see|show|visit|' +
    'website|linkedin|twitter|connect|connected|pending|follow|followed|following|invited|accepted|sent|verified|1st|2nd|3rd)$',
  'i',
);

/**
 * Returns true for a text that stands where a handle should: an answer to a question, or the label of a link. As a handle it
 * would find one person for all rows.
 */
export function isNoHandle(text: string): boolean {
  return isFlag(text) || LINK_LABEL.test(text);
}

/** Returns true for a cell of a column that answers a question, such as `LinkedIn: yes`. */
function isFlag(text: string): boolean {
  return FLAG.test(text);
}
