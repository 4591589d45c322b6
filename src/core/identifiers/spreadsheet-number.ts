/** Restores long numbers that spreadsheets reformatted, only when no digit can have been lost. */

/**
 * Returns the digits of a number that a spreadsheet or a data frame wrote; null when digits are lost; undefined
 * when the text is not in such a form.
 */
export function restoreWholeNumber(text: string): string | null | undefined {
  if (!/^\d[\d.,]*(?:[eE]\+?\d{1,2})?$/.test(text)) return undefined;
  if (/^\d{4,}\.00?$/.test(text)) return text.slice(0, text.indexOf('.'));
  if (/^\d{1,3}(?:,\d{3}){2,}$/.test(text)) return text.replaceAll(',', '');
  return restoreScientific(text);
}

/** `4.47911123457E+11` has all twelve digits; `4.47911E+11` shows six of twelve, and the others are unknown. */
function restoreScientific(text: string): string | null | undefined {
  const match = /^(\d)(?:[.,](\d+))?[eE]\+?(\d{1,2})$/.exec(text);
  if (match === null) return undefined;
  const [, whole = '', fraction = '', exponent = ''] = match;
  return fraction.length === Number(exponent) ? whole + fraction : null;
}
