/**
 * A filter as it is written: the query string of a person search. It is read here as the service reads it,
 * so that a form can show it, and changed one parameter at a time: what is not touched stays as it was
 * written, also what the service will refuse. Pure.
 */

/** One parameter of a filter. */
export interface Parameter {
  name: string;
  /** Its value, decoded. */
  text: string;
  /** As it stands in the filter. */
  raw: string;
}

/** One value of a parameter. */
export interface Item {
  /** Without escapes and outer spaces. */
  text: string;
  /** One-based place in the parameter's text. */
  position: number;
  /** For what asks whether the field is there. */
  keyword: '*' | 'null' | null;
}

const ESCAPABLE = '|[],*\\';

/** The parameters of a filter, in their order. */
export function readFilter(filter: string): Parameter[] {
  return filter
    .split('&')
    .filter((raw) => raw !== '')
    .map((raw) => {
      const [name = '', ...rest] = raw.split('=');
      return { name: decode(name), text: decode(rest.join('=')), raw };
    });
}

/** A filter of these parameters. */
export function joinParameters(parameters: readonly Pick<Parameter, 'raw'>[]): string {
  return parameters.map(({ raw }) => raw).join('&');
}

/** A parameter as a filter holds it: as readable as can be, since people read and edit it. */
export function writeParameter(name: string, text: string): Parameter {
  return { name, text, raw: `${encode(name)}=${encode(text)}` };
}

/** The filter with another value of a parameter; null takes the parameter away. */
export function withValue(filter: string, name: string, text: string | null): string {
  const parameters = readFilter(filter);
  const at = parameters.findIndex((parameter) => parameter.name === name);
  const written = text === null ? [] : [writeParameter(name, text)];
  parameters.splice(at === -1 ? parameters.length : at, at === -1 ? 0 : 1, ...written);
  return joinParameters(parameters);
}

/** The filter as a part of an address: what would end it there, or be left out of it, is encoded. */
export function addressable(filter: string): string {
  return filter.replace(/[#\t\r\n]/g, encodeURIComponent);
}

/** Returns typed or pasted text as a filter: of a whole address only the part after its question mark. */
export function tidyFilter(typed: string): string {
  return typed.replace(/^[^=&]*\?/, '').replace(/[\t\r\n]+/g, '');
}

/**
 * The values that a text holds, as in `[a|b]` or `a`; null when it cannot be read. With `commas` they may
 * stand between commas as well, as ids do.
 */
export function readItems(text: string, { commas }: { commas: boolean }): Item[] | null {
  const inside = /^\s*\[(.*)\]\s*$/s.exec(text);
  const isList = inside !== null && !endsEscaped(text);
  const body = isList ? (inside[1] ?? '') : text;
  const offset = isList ? text.indexOf('[') + 1 : 0;
  const items: Item[] = [];
  let draft = { text: '', start: -1, isEscaped: false, hasStar: false };
  const finish = (): boolean => {
    const value = draft.text.trim();
    const isKeyword = value === '*' ? draft.hasStar : value === 'null' && !draft.isEscaped;
    if (draft.start === -1 || (draft.hasStar && !isKeyword)) return false;
    const keyword = isKeyword ? (value as Item['keyword']) : null;
    items.push({ text: value, position: offset + draft.start + 1, keyword });
    draft = { text: '', start: -1, isEscaped: false, hasStar: false };
    return true;
  };
  for (let at = 0; at < body.length; at++) {
    let character = body[at] ?? '';
    if (character === '|' || (character === ',' && commas)) {
      if (!isList || !finish()) return null;
      continue;
    }
    if (character === '[' || character === ']') return null;
    const start = at;
    if (character === '\\') {
      at += 1;
      character = body[at] ?? '';
      if (character === '' || !ESCAPABLE.includes(character)) return null;
      draft.isEscaped = true;
    } else if (character === '*') draft.hasStar = true;
    draft.text += character;
    if (draft.start === -1 && /\S/.test(character)) draft.start = start;
  }
  return finish() ? items : null;
}

/** Values as a parameter holds them; null for none, as no parameter is empty. */
export function writeItems(texts: readonly string[]): string | null {
  const items = texts.map((text) => text.trim()).filter((text) => text !== '');
  // `null` asks for what is absent and cannot be escaped; texts are compared without case.
  const escaped = items.map((text) =>
    text === 'null' ? 'Null' : text.replace(/[|[\]*\\]/g, '\\$&'),
  );
  if (escaped.length === 0) return null;
  return escaped.length === 1 ? (escaped[0] ?? '') : `[${escaped.join('|')}]`;
}

/** True when the closing bracket of a text is a character of its last item. */
function endsEscaped(text: string): boolean {
  const [backslashes = ''] = /\\*(?=\]\s*$)/.exec(text) ?? [];
  return backslashes.length % 2 === 1;
}

function encode(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no address holds them.
  return text.replace(/[%&+#\u0000-\u001f\u007f]/g, encodeURIComponent);
}

/**
 * Decodes once. A plus between two other characters is a space, as in forms; elsewhere it is a plus. What
 * is not percent-encoded UTF-8 stays as it is: the service says what is wrong with it.
 */
function decode(raw: string): string {
  // Joined once: a growing string is copied in full each time that its end is read.
  const parts: string[] = [];
  let last: string | undefined;
  for (const [at, piece] of raw.split('+').entries()) {
    const part = decodePiece(piece);
    if (at > 0) {
      last = isInside(last) && isInside(part[0]) ? ' ' : '+';
      parts.push(last);
    }
    parts.push(part);
    last = part.at(-1) ?? last;
  }
  return parts.join('');
}

function isInside(character: string | undefined): boolean {
  return character !== undefined && !'+|[]'.includes(character);
}

function decodePiece(piece: string): string {
  try {
    return decodeURIComponent(piece);
  } catch {
    return piece;
  }
}
