/**
 * The family of a job title: `Senior Software Engineer`, `Software Engineer II` and `software engineer, EMEA` are one
 * family, and so are `Finance Director`, `Director of Finance` and `Group Finance Director - UK`.
 *
 * 1. The title ends at the first comma, bracket, dash between spaces or ` at `. A head that says nothing by itself takes
 *    what follows it: `Director, Finance`.
 * 2. Abbreviations are written out, and titles of other languages are replaced by the English ones of a small table.
 * 3. Words of seniority and scope (senior, deputy, head of, group, II, UK) are left out.
 * 4. `Director of Finance` and `VP Sales` are read as `Finance Director` and `Sales Vice President`.
 */
import { fold } from '../../lib/fold.ts';
import { type Term, termOf, wordsOf } from './spelling.ts';
import {
  bareHeads,
  leadingModifiers,
  noValues,
  titleVariants,
  trailingModifiers,
  wholeHeads,
  wordVariants,
} from './title-words.ts';

/** A longer text describes a person rather than a job. */
const WORDS_MAX = 8;
const TITLE_LENGTH_MAX = 200;
const SEPARATORS = /[,;|•·:()[\]{}\n]+|\s[-–—/]+\s|\s@\s|\s(?:at|bei|chez)\s/iu;

/** Returns the family of a title in a person's own words; null for a text that names none. */
export function familyOf(title: string): Term | null {
  if (title.length > TITLE_LENGTH_MAX) return null;
  const segments = title
    .split(SEPARATORS)
    .map((segment) => writtenOut(wordsOf(segment)))
    .filter((words) => words.length > 0);
  const [first = [], second] = segments;
  let words = withoutModifiers(first);
  const head = foldedText(words);
  if (second !== undefined && bareHeads.has(head) && !wholeHeads.has(head)) {
    words = [...withoutModifiers(second), ...words];
  }
  words = withoutModifiers(writtenOut(withHeadLast(words)));
  const term = termOf(words);
  const isTitle = words.length > 0 && words.length <= WORDS_MAX && /\p{L}{2}/u.test(term.key);
  return isTitle && !noValues.has(term.key) ? term : null;
}

function foldedText(words: readonly string[]): string {
  return fold(words.join(' '));
}

/** The words with abbreviations written out, or those of the title that the table has for all of them. */
function writtenOut(words: readonly string[]): string[] {
  const whole = titleVariants.get(foldedText(words));
  if (whole !== undefined) return whole.split(' ');
  const written = words.flatMap((word) => (wordVariants.get(fold(word)) ?? word).split(' '));
  const text = written
    .join(' ')
    .replace(/\bhuman resources?\b/g, 'hr')
    .replace(/\bh r\b/g, 'hr');
  return (titleVariants.get(fold(text)) ?? text).split(' ').filter(Boolean);
}

/** Words that continue what stands before them: `Assistant to the Mayor` is no mayor. */
const joints = new Set(['to', 'of', 'and', 'for', 'in']);

function withoutModifiers(words: readonly string[]): string[] {
  let rest = [...words];
  for (;;) {
    const [first = '', second = ''] = rest.map(fold);
    if (first === 'head' && second === 'of' && rest.length > 2) {
      rest = rest.slice(2);
    } else if (leadingModifiers.has(first) && rest.length > 1 && !joints.has(second)) {
      rest = rest.slice(1);
    } else if (rest.length > 1 && trailingModifiers.has(fold(rest.at(-1) ?? ''))) {
      rest = rest.slice(0, -1);
    } else {
      return rest;
    }
  }
}

/** `director of finance` as `finance director`. */
function withHeadLast(words: readonly string[]): string[] {
  for (let length = 3; length >= 1; length -= 1) {
    const head = words.slice(0, length);
    const rest = words.slice(length);
    if (!bareHeads.has(foldedText(head))) continue;
    if (rest[0] === 'of' && rest.length > 1) {
      return [...rest.slice(rest[1] === 'the' ? 2 : 1), ...head];
    }
    const takesField = FIELD_HEADS.test(foldedText(head)) && rest.length > 0;
    return takesField && !joints.has(rest[0] ?? '') ? [...rest, ...head] : [...words];
  }
  return [...words];
}

const FIELD_HEADS = /^(?:director|(?:executive )?vice president)$/;
