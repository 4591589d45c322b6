/**
 * The form that a cell's number format gives to its number. Workbooks store dates and times as plain numbers; only
 * the format code distinguishes them (ECMA-376 part 1, 18.8.30 and 18.8.31).
 */

export type NumberForm =
  | { kind: 'plain' | 'date' | 'time' | 'datetime' | 'elapsed' }
  /** A format of zeros only, such as `00000000` for registry numbers: the number of digits shown. */
  | { kind: 'zeros'; digits: number };

export const plainForm: NumberForm = { kind: 'plain' };

/** Built-in format ids; 27 to 36 and 50 to 58 are dates and times of East Asia. */
export function builtInForm(id: number): NumberForm {
  if (id >= 14 && id <= 17) return { kind: 'date' };
  if (id >= 18 && id <= 21) return { kind: 'time' };
  if (id === 22) return { kind: 'datetime' };
  if (id === 45 || id === 47) return { kind: 'time' };
  if (id === 46) return { kind: 'elapsed' };
  if (id >= 32 && id <= 35) return { kind: 'time' };
  if ((id >= 27 && id <= 36) || (id >= 50 && id <= 58)) return { kind: 'date' };
  return plainForm;
}

/** Quoted text, escaped characters, padding and filling: shown literally, not part of the code. */
const LITERAL = /"[^"]*"?|[\\_*]./gsu;
const ELAPSED_MARK = /\[(?:h+|m+|s+)\]/i;
/** Colours, conditions, locales and currencies. */
const BRACKETED = /\[[^\]]*\]?/g;

/** Returns the form of a format code as written in the workbook. */
export function formOfCode(formatCode: string): NumberForm {
  const [section = ''] = formatCode.replace(LITERAL, '').split(';');
  if (ELAPSED_MARK.test(section)) return { kind: 'elapsed' };
  const code = section.replace(BRACKETED, '').toLowerCase().replaceAll('general', '').trim();
  if (/^0{2,}$/.test(code) && code === formatCode) return { kind: 'zeros', digits: code.length };
  const hasTime = /[hs]/.test(code);
  // An m next to hours or seconds is minutes, otherwise months.
  const hasDate = /[yd]/.test(code) || (!hasTime && code.includes('m'));
  if (hasDate) return { kind: hasTime ? 'datetime' : 'date' };
  return hasTime ? { kind: 'time' } : plainForm;
}
