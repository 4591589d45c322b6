/** Messages about a field, as sentences of their own below that field. Pure. */

/** The service's words go on from the name of the field; of these, a person is told what to enter. */
const sentences: readonly [form: RegExp, sentence: (found: RegExpExecArray) => string][] = [
  [/^(is required|is missing)$/, () => 'Fill in this field.'],
  [/^must be at least ([\d,]+)$/, ([, least]) => `Enter ${least} or more.`],
  [/^must be at most ([\d,]+)\b/, ([, most]) => `Enter ${most} or less.`],
  [/^must have at least 1 character$/, () => 'Fill in this field.'],
  [/^must have at most ([\d,]+) characters?$/, ([, most]) => `Use at most ${most} characters.`],
  [/^must have at least 1 item$/, () => 'Choose at least one.'],
  [/^must be (a|an) (whole )?number$/, () => 'Enter a whole number.'],
];

/** Returns the message of a field as a sentence that says what to enter, as far as it does. */
export function toSentence(message: string): string {
  for (const [form, sentence] of sentences) {
    const found = form.exec(message);
    if (found !== null) return sentence(found);
  }
  const isFragment = /^(must|is|has|does|names|contains|takes)\b/.test(message);
  const text = isFragment ? `This ${message}` : message;
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** A number as it was typed; what is no number stays as it is: the service says what is wrong with it. */
export function toNumber(text: string): number | string {
  const typed = text.trim();
  return typed === '' || Number.isNaN(Number(typed)) ? text : Number(typed);
}
