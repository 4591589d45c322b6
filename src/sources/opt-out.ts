/** Cells and columns by which a file says that a person opted out. */
import { isPlaceholder } from '../core/identifiers/placeholder.ts';
import { foldColumnName } from '../mapping/column-names.ts';

/** Yes, a mark, and TRUE as a spreadsheet writes it in the language of its user. */
const YES =
  /^(?:1(?:\.0)?|true|t|yes|y|x|on|ja|j|oui|si|sí|sì|sim|tak|wahr|vrai|verdadero|vero|verdadeiro|waar|prawda|sand|sant|sann|tosi|pravda|igaz|doğru|истина|[*✓✔☑])$/iu;
const NO =
  /^(?:0(?:\.0)?|false|f|no|n|off|nein|non|não|nao|nee|nej|nei|nie|falsch|faux|falso|onwaar|fałsz|falsk|falskt|usann|epätosi|nepravda|hamis|yanlış|ложь|subscribed|opted[ -]?in|opt[ -]?in)$/iu;
const OPTED_OUT =
  /^(?:unsubscribed?|opt(?:ed)?[ _-]?out|do[ _-]?not[ _-]?(?:contact|call|e-?mail|mail)|dnc|abgemeldet|désabonné|désinscrit|disiscritto|uitgeschreven|afgemeld)$/iu;
/** The day of the opt-out. */
const DAY = /^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T ].*)?$/;

/** Returns true for a cell of yes and no that says yes. */
export function isYes(cell: string): boolean {
  return YES.test(cell.trim());
}

/**
 * Returns true when one of these cells says that the person opted out, false when none does, and null when one says neither: an
 * opt-out cannot be undone, so it is not guessed.
 */
export function optOutOf(cells: readonly string[]): boolean | null {
  const answers = cells.map(answerOf);
  if (answers.includes(true)) return true;
  return answers.includes(null) ? null : false;
}

function answerOf(cell: string): boolean | null {
  const text = cell.trim();
  if (YES.test(text) || OPTED_OUT.test(text) || DAY.test(text)) return true;
  return text === '' || NO.test(text) || isPlaceholder(text) ? false : null;
}

const COLUMN = new RegExp(
  `^(?:.* )?(?:opt(?:ed)? ?out|unsubscribed?|do not (?:contact|call|e ?mail|mail)|dnc|abgemeldet|abbestellt|werbesperre|kontaktsperre
  |werbewiderspruch|desabonne|desinscrit|ne pas contacter|dado de baja|no contactar|disiscritto|non contattare|descadastrado
  |nao contactar|uitgeschreven|afgemeld|niet (?:benaderen|contacteren)|avregistrerad|afmeldt|wypisany)
  (?: (?:(?:from|of|de|von|for) .*|date|on|at|time))?$`.replace(/\n\s*/g, ''),
);

/** Returns true for the name of a column of opt-outs, such as `Unsubscribed from all email`, but not of opt-outs from faxes. */
export function isOptOutColumn(name: string): boolean {
  const folded = foldColumnName(name);
  return COLUMN.test(folded) && !/\bfax\b/.test(folded);
}
