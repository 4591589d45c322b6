/**
 * A streaming reader of the XML in workbooks: text in, calls to a handler out, memory bounded by one tag. It
 * accepts the subset that ECMA-376 part 2 allows: no document type declaration, so no entity can be defined and
 * nothing outside the part can be referenced.
 *
 * The prefix of the root element denotes the main namespace everywhere (no known producer rebinds it): names with
 * it are passed without it, all others keep their prefix and match nothing.
 */

import { must } from '../../core/lib/assert.ts';
import { unreadableXlsx } from './xlsx-errors.ts';

export interface XmlHandler {
  /** `attributes` is the text between name and `>`, for `readAttribute`. */
  open(name: string, attributes: string): void;
  /** Text comes in pieces of any size, with entities resolved and newlines as LF. */
  text(piece: string): void;
  close(name: string): void;
}

/** No workbook has a longer tag; roots with dozens of namespaces take a few thousand. */
const TAG_CHARS_MAX = 64 * 1024;
const DEPTH_MAX = 256;
/** `&#x10ffff;` is the longest reference. */
const REFERENCE_CHARS_MAX = 12;

type Section = 'comment' | 'cdata' | 'instruction';
const sectionEnd: Record<Section, string> = { comment: '-->', cdata: ']]>', instruction: '?>' };

export class XmlScanner {
  readonly #handler: XmlHandler;
  readonly #open: string[] = [];
  #rest = '';
  #section: Section | null = null;
  #prefix: string | null = null;
  /** How far the tag at the start of the rest was read, and the quote that is open there: a long tag comes in many chunks. */
  #partial: { chars: number; quote: number } | null = null;

  constructor(handler: XmlHandler) {
    this.#handler = handler;
  }

  /** Throws `AppError` 422 when the text is not XML, or XML that workbooks may not contain. */
  write(chunk: string): void {
    const text = this.#rest + chunk;
    let at = 0;
    while (at < text.length) {
      const next = this.#step(text, at);
      if (next === at) break;
      at = next;
    }
    this.#rest = text.slice(at);
    if (this.#rest.length > TAG_CHARS_MAX) throw brokenXml('a tag is too long');
  }

  /** Throws `AppError` 422 when the text ended before its root element. */
  end(): void {
    const isDone = this.#prefix !== null && this.#open.length === 0 && this.#section === null;
    if (!isDone || this.#rest.trim() !== '') throw brokenXml('it ends early');
  }

  /** Takes one token; returns the start of the next, or `at` when the token is incomplete. */
  #step(text: string, at: number): number {
    if (this.#section !== null) return this.#inSection(text, at, this.#section);
    if (text.charCodeAt(at) !== LESS_THAN) return this.#characters(text, at);
    switch (text.charCodeAt(at + 1)) {
      case SLASH:
        return this.#closeTag(text, at);
      case QUESTION:
        this.#section = 'instruction';
        return at + 2;
      case EXCLAMATION:
        return this.#declaration(text, at);
      default:
        return this.#openTag(text, at);
    }
  }

  #inSection(text: string, at: number, section: Section): number {
    const end = sectionEnd[section];
    const found = text.indexOf(end, at);
    // Without its end, everything is content except the characters that may begin the end.
    const contentEnd = found === -1 ? Math.max(at, text.length - end.length + 1) : found;
    if (section === 'cdata' && contentEnd > at) this.#handler.text(text.slice(at, contentEnd));
    if (found === -1) return contentEnd;
    this.#section = null;
    return found + end.length;
  }

  #declaration(text: string, at: number): number {
    if (text.startsWith('<!--', at)) {
      this.#section = 'comment';
      return at + 4;
    }
    if (text.startsWith('<![CDATA[', at) && this.#open.length > 0) {
      this.#section = 'cdata';
      return at + 9;
    }
    if (text.length - at < 9) return at;
    throw brokenXml('it contains a document type declaration, which workbooks may not');
  }

  #characters(text: string, at: number): number {
    const markup = text.indexOf('<', at);
    const end = markup === -1 ? safeTextEnd(text, at) : markup;
    if (end === at) return at;
    const piece = text.slice(at, end);
    if (this.#open.length > 0) this.#handler.text(resolve(piece));
    else if (piece.trim() !== '') throw brokenXml('there is text outside its root element');
    return end;
  }

  #openTag(text: string, at: number): number {
    const end = this.#tagEnd(text, at);
    if (end === -1) return at;
    const isEmpty = text.charCodeAt(end - 1) === SLASH;
    const last = isEmpty ? end - 1 : end;
    const nameEnd = findNameEnd(text, at + 1, last);
    if (nameEnd === at + 1) throw brokenXml('a tag has no name');
    const isRoot = this.#open.length === 0;
    if (isRoot && this.#prefix !== null) throw brokenXml('it has two root elements');
    const written = text.slice(at + 1, nameEnd);
    const name = this.#mainName(written);
    this.#handler.open(name, text.slice(nameEnd, last));
    if (isEmpty) this.#handler.close(name);
    else if (this.#open.push(written) > DEPTH_MAX)
      throw brokenXml('its tags are nested too deeply');
    return end + 1;
  }

  #closeTag(text: string, at: number): number {
    const end = text.indexOf('>', at);
    if (end === -1) return at;
    const written = text.slice(at + 2, end).trimEnd();
    if (this.#open.pop() !== written)
      throw brokenXml(`the tag ${written.slice(0, 40)} is not open`);
    this.#handler.close(this.#mainName(written));
    return end + 1;
  }

  /** The `>` that ends the tag at `at`: one inside an attribute's value does not. */
  #tagEnd(text: string, at: number): number {
    let { chars, quote } = this.#partial ?? { chars: 1, quote: 0 };
    for (; at + chars < text.length; chars++) {
      const code = text.charCodeAt(at + chars);
      if (quote !== 0) {
        if (code === quote) quote = 0;
      } else if (code === GREATER_THAN) {
        this.#partial = null;
        return at + chars;
      } else if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE) quote = code;
      else if (code === LESS_THAN) throw brokenXml('a tag is not closed');
    }
    this.#partial = { chars, quote };
    return -1;
  }

  #mainName(written: string): string {
    this.#prefix ??= written.slice(0, written.indexOf(':') + 1);
    if (this.#prefix === '') return written;
    return written.startsWith(this.#prefix) ? written.slice(this.#prefix.length) : `:${written}`;
  }
}

const LESS_THAN = 0x3c;
const GREATER_THAN = 0x3e;
const SLASH = 0x2f;
const QUESTION = 0x3f;
const EXCLAMATION = 0x21;
const DOUBLE_QUOTE = 0x22;
const SINGLE_QUOTE = 0x27;

function findNameEnd(text: string, from: number, end: number): number {
  let at = from;
  while (at < end && text.charCodeAt(at) > 0x20) at++;
  return at;
}

/** Returns a position where text can be cut without splitting a reference or a CR LF. */
function safeTextEnd(text: string, at: number): number {
  let end = text.length;
  const ampersand = text.lastIndexOf('&');
  const isOpen = ampersand >= at && end - ampersand < REFERENCE_CHARS_MAX;
  if (isOpen && !text.includes(';', ampersand)) end = ampersand;
  if (end > at && text[end - 1] === '\r') end--;
  return end;
}

const namedCharacters: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};

/** Resolves the five entities and character references, and newlines to LF. */
function resolve(written: string): string {
  let text = written;
  if (text.includes('\r')) text = text.replace(/\r\n?/g, '\n');
  if (!text.includes('&')) return text;
  return text.replace(/&([^;&]{0,12};)?/g, (_, body: string | undefined) => {
    if (body === undefined) throw brokenXml('an & stands alone');
    return resolveReference(body.slice(0, -1));
  });
}

function resolveReference(body: string): string {
  const digits = /^#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}))$/.exec(body);
  if (digits === null) {
    if (!Object.hasOwn(namedCharacters, body)) throw brokenXml(`the entity &${body}; is unknown`);
    return must(namedCharacters[body], `the entity ${body}`);
  }
  const code = digits[1] === undefined ? Number(digits[2]) : Number.parseInt(digits[1], 16);
  if (code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
    throw brokenXml(`&${body}; is not a character`);
  }
  return String.fromCodePoint(code);
}

/** Returns the value of one attribute of a tag, or null; `name` is compared with its prefix. */
export function readAttribute(attributes: string, name: string): string | null {
  let at = 0;
  for (;;) {
    const equals = attributes.indexOf('=', at);
    if (equals === -1) return null;
    let quoteAt = equals + 1;
    while (attributes.charCodeAt(quoteAt) <= 0x20) quoteAt++;
    const quote = attributes.charCodeAt(quoteAt);
    if (quote !== DOUBLE_QUOTE && quote !== SINGLE_QUOTE)
      throw brokenXml('an attribute is unquoted');
    const end = attributes.indexOf(quote === DOUBLE_QUOTE ? '"' : "'", quoteAt + 1);
    if (end === -1) throw brokenXml('an attribute is not closed');
    if (attributes.slice(at, equals).trim() === name) {
      return resolve(attributes.slice(quoteAt + 1, end));
    }
    at = end + 1;
  }
}

function brokenXml(reason: string): Error {
  return unreadableXlsx(`its XML is broken (${reason})`);
}
