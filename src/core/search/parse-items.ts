/** The list syntax of values: `[item|item]`, or one item without brackets. */
import { badParameter } from './parse-query.ts';

export interface Item {
  /** Without escapes and outer spaces. */
  text: string;
  /** One-based position of its first character inside the value. */
  position: number;
  /** Set for an unescaped `*` or `null` on its own. */
  keyword: '*' | 'null' | null;
}

/** Maximum number of items of one parameter. */
const ITEMS_MAX = 10_000;
const ESCAPABLE = '|[],*\\';

/** Returns a text as an item of a list: `parseItems` gives it back. */
export function escapeItem(text: string): string {
  return text.replace(/[|[\],*\\]/g, '\\$&');
}

interface Draft {
  text: string;
  /** Zero-based position of its first character that is not a space. */
  start: number | null;
  /** Zero-based position of an unescaped `*`. */
  star: number | null;
  isEscaped: boolean;
}

/**
 * Parses a value. With `commas` items may also be separated by commas. Throws `AppError` 400 for an empty list or
 * item, an unclosed or unexpected bracket, an invalid escape, a `*` inside a text.
 */
export function parseItems(
  parameter: string,
  value: string,
  { commas }: { commas: boolean },
): Item[] {
  const fail = (at: number, message: string) => badParameter(parameter, at + 1, message);
  const first = value.search(/\S/);
  if (first === -1) throw fail(0, 'is empty');
  const isList = value[first] === '[';
  const items: Item[] = [];
  let draft: Draft = emptyDraft();
  let isClosed = false;
  const finish = (at: number) => {
    if (items.length === ITEMS_MAX) throw fail(at, `takes at most ${ITEMS_MAX} items`);
    items.push(toItem(draft, at, fail));
    draft = emptyDraft();
  };
  for (let at = isList ? first + 1 : first; at < value.length; at++) {
    const character = value[at] ?? '';
    if (isClosed) {
      if (/\S/.test(character)) throw fail(at, 'continues after the closing bracket');
    } else if (character === '\\') {
      const next = value[at + 1] ?? '';
      if (next === '' || !ESCAPABLE.includes(next)) {
        throw fail(at, 'has a `\\` that escapes none of | [ ] , * \\');
      }
      append(draft, next, at);
      draft.isEscaped = true;
      at++;
    } else if (character === '|' || (character === ',' && commas)) {
      if (!isList) throw fail(at, 'is a list: write it in brackets, as in [1|2]');
      finish(at);
    } else if (character === ']' && isList) {
      finish(at);
      isClosed = true;
    } else if (character === '[' || character === ']') {
      throw fail(at, `has an unexpected \`${character}\`: escape it with \`\\\``);
    } else {
      if (character === '*') draft.star ??= at;
      append(draft, character, at);
    }
  }
  if (isList && !isClosed) throw fail(first, 'has a bracket that is not closed');
  if (!isList) finish(value.length);
  return items;
}

function emptyDraft(): Draft {
  return { text: '', start: null, star: null, isEscaped: false };
}

function append(draft: Draft, character: string, at: number): void {
  draft.text += character;
  if (draft.start === null && /\S/.test(character)) draft.start = at;
}

function toItem(
  { text: padded, start, star, isEscaped }: Draft,
  end: number,
  fail: (at: number, message: string) => Error,
): Item {
  const text = padded.trim();
  if (start === null) throw fail(end, 'has an empty item');
  const position = start + 1;
  if (star === null) {
    return { text, position, keyword: text === 'null' && !isEscaped ? 'null' : null };
  }
  if (text !== '*') throw fail(star, 'has a `*` inside a text: write `\\*` for the character');
  return { text, position, keyword: '*' };
}
