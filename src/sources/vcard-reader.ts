/** Reads the cards of a vCard file: folded lines, quoted-printable, escapes and parameters of versions 2.1 to 4.0. */
import { readLines, type TextLine } from './text-lines.ts';

export interface VCardProperty {
  /** In capitals, without the group before its dot. */
  name: string;
  /** The value as text. */
  value: string;
  /** The value of a structured property, between its semicolons. */
  parts: string[];
  /** Values of TYPE in small letters. */
  types: ReadonlySet<string>;
  isPreferred: boolean;
}

export interface VCard {
  /** The line of its BEGIN. */
  line: number;
  properties: VCardProperty[];
  /** Null for a whole card. It is cut off when the file ends, or another card begins, before its END. */
  unreadable: 'cut_off' | 'too_long' | null;
}

/** A card of ten megabytes has a photo of seven. */
const CARD_BYTES_MAX = 16 * 1024 * 1024;
/** The cost of a line besides its text. */
const LINE_BYTES = 32;
/** Longer values are pictures, keys and notes. */
const VALUE_CHARACTERS_MAX = 64 * 1024;

interface ReadLines {
  line: number;
  lines: string[];
  bytes: number;
}

/** Reads cards from UTF-8. */
export async function* readCards(bytes: AsyncIterable<Buffer>): AsyncGenerator<VCard> {
  let card: ReadLines | null = null;
  const atReturns = divideAtReturns();
  for await (const lines of readLines(bytes, 'utf8')) {
    for (const { line, text } of lines.flatMap(atReturns)) {
      if (/^\ufeff?BEGIN:VCARD\s*$/i.test(text)) {
        if (card !== null) yield parseCard(card, 'cut_off');
        card = { line, lines: [], bytes: 0 };
      } else if (card !== null && /^END:VCARD\s*$/i.test(text)) {
        yield parseCard(card, null);
        card = null;
      } else if (card !== null) {
        card.bytes += text.length + LINE_BYTES;
        if (card.bytes <= CARD_BYTES_MAX) card.lines.push(text);
      }
    }
  }
  if (card !== null) yield parseCard(card, 'cut_off');
}

/**
 * Old address books of Apple end lines with CR alone: their file is one line. In cards with other line ends a CR is a part of a
 * value, such as a note with the number of an assistant. The line of its BEGIN says which card it is.
 */
function divideAtReturns(): (one: TextLine) => TextLine[] {
  let isDivided = false;
  return (one) => {
    const whole = one.text.replace(/\r+$/, '');
    if (/^[\s\ufeff]*BEGIN:VCARD/i.test(whole)) isDivided = whole.includes('\r');
    if (!isDivided) return [{ ...one, text: whole }];
    return whole.split('\r').map((text, place) => ({ line: one.line + place, text }));
  };
}

function parseCard({ line, lines, bytes }: ReadLines, unreadable: 'cut_off' | null): VCard {
  const version = lines
    .find((text) => /^VERSION:/i.test(text))
    ?.slice('VERSION:'.length)
    .trim();
  const properties = unfold(lines)
    .map((text) => parseProperty(text, version === '2.1'))
    .filter((property) => property !== null);
  return { line, properties, unreadable: bytes > CARD_BYTES_MAX ? 'too_long' : unreadable };
}

/** A property whose lines are joined at the end: a photo has thousands. */
interface Folded {
  pieces: string[];
  /** Null before its colon. */
  isQuotedPrintable: boolean | null;
}

/** Joins a line that begins with a space or a tab to the one before, and one after a soft line break. */
function unfold(lines: readonly string[]): string[] {
  const unfolded: Folded[] = [];
  for (const text of lines) {
    const last = unfolded.at(-1);
    if (last !== undefined && takeSoftBreak(last)) addPiece(last, text);
    else if (last !== undefined && /^[ \t]/.test(text)) addPiece(last, text.slice(1));
    else {
      const next: Folded = { pieces: [], isQuotedPrintable: null };
      addPiece(next, text);
      unfolded.push(next);
    }
  }
  return unfolded.map(({ pieces }) => pieces.join(''));
}

function addPiece(folded: Folded, piece: string): void {
  if (piece === '') return;
  folded.pieces.push(piece);
  if (folded.isQuotedPrintable !== null || !piece.includes(':')) return;
  folded.isQuotedPrintable = /^[^:]*QUOTED-PRINTABLE/i.test(folded.pieces.join(''));
}

/** Removes the sign of a soft line break from the end; false when there is none. */
function takeSoftBreak({ pieces, isQuotedPrintable }: Folded): boolean {
  const last = pieces.at(-1) ?? '';
  if (isQuotedPrintable !== true || !last.endsWith('=')) return false;
  pieces.pop();
  if (last !== '=') pieces.push(last.slice(0, -1));
  return true;
}

function parseProperty(text: string, isOld: boolean): VCardProperty | null {
  if (text.length > VALUE_CHARACTERS_MAX) return null;
  const colon = valueStart(text);
  if (colon < 0) return null;
  const [named = '', ...parameters] = splitOutsideQuotes(text.slice(0, colon));
  const name = named.replace(/^[\w-]+\./, '').toUpperCase();
  const raw = text.slice(colon + 1);
  // A picture is not needed.
  if (name === '' || name === 'PHOTO' || name === 'LOGO' || name === 'SOUND') return null;
  const isQuoted = parameters.some((parameter) =>
    /^(?:ENCODING=)?QUOTED-PRINTABLE$/i.test(parameter),
  );
  const charset = parameters.map((one) => /^CHARSET=(.+)$/i.exec(one)?.[1]).find(Boolean);
  const decoded = isQuoted ? decodeQuotedPrintable(raw, charset) : raw;
  const types = new Set(parameters.flatMap(typesOf));
  return {
    name,
    value: isOld ? decoded : unescapeText(decoded),
    parts: splitParts(decoded, isOld),
    types,
    isPreferred: types.has('pref') || parameters.some((one) => /^PREF=1$/i.test(one)),
  };
}

/** The position of the colon before the value: one inside a quoted parameter is not it. */
function valueStart(text: string): number {
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') isQuoted = !isQuoted;
    else if (text[at] === ':' && !isQuoted) return at;
  }
  return -1;
}

function splitOutsideQuotes(text: string): string[] {
  return text.match(/(?:[^;"]|"[^"]*"?)+/g) ?? [];
}

/** `TYPE="voice,work"`, `type=WORK`, and in version 2.1 the bare word. */
function typesOf(parameter: string): string[] {
  const [name = '', value] = parameter.split('=');
  if (value === undefined) return [name.toLowerCase()];
  if (name.toUpperCase() !== 'TYPE') return [];
  return value.replaceAll('"', '').toLowerCase().split(',');
}

function decodeQuotedPrintable(text: string, charset = 'utf-8'): string {
  const bytes: number[] = [];
  const source = Buffer.from(text, 'utf8');
  for (let at = 0; at < source.length; at++) {
    const hex = source[at] === EQUALS ? source.toString('latin1', at + 1, at + 3) : '';
    if (/^[0-9a-f]{2}$/i.test(hex)) {
      bytes.push(Number.parseInt(hex, 16));
      at += 2;
    } else {
      bytes.push(source[at] as number);
    }
  }
  try {
    return new TextDecoder(charset).decode(Uint8Array.from(bytes)).replaceAll('\r\n', '\n');
  } catch {
    return Buffer.from(bytes).toString('latin1');
  }
}

const EQUALS = 0x3d;

/** Splits at semicolons that are not escaped. */
function splitParts(text: string, isOld: boolean): string[] {
  const parts = [''];
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string;
    if (character === '\\') parts[parts.length - 1] += character + (text[++at] ?? '');
    else if (character === ';') parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => (isOld ? part.replaceAll('\\;', ';') : unescapeText(part)));
}

function unescapeText(text: string): string {
  return text.replace(/\\([\s\S])/g, (_, character: string) =>
    character === 'n' || character === 'N' ? '\n' : character,
  );
}
