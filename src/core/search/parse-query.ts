/** Splits a query string into its parameters: percent-decoded once as strict UTF-8, each name at most once. */
import { type AppError, invalidParameter } from '../lib/errors.ts';

export interface RawParameter {
  name: string;
  /** Decoded. */
  value: string;
  /** One-based position of the parameter inside the query string. */
  position: number;
}

/** More than the number of filters. */
const PARAMETERS_MAX = 200;

/** Splits a query string. Throws `AppError` 400 `invalid_parameter`. */
export function splitQuery(query: string): RawParameter[] {
  const parameters: RawParameter[] = [];
  const seen = new Set<string>();
  let position = 1;
  for (const part of query.split('&')) {
    const start = position;
    position += part.length + 1;
    if (part === '') continue;
    const at = part.indexOf('=');
    const name = decode(at === -1 ? part : part.slice(0, at), (text) => text, start);
    if (at === -1) throw badParameter(name, start, 'has no value: write `name=value`');
    if (seen.has(name)) throw badParameter(name, start, 'is given twice');
    if (seen.size >= PARAMETERS_MAX) throw badParameter(name, start, 'is one parameter too many');
    seen.add(name);
    const value = decode(part.slice(at + 1), () => name, 1);
    // Postgres stores neither a NUL nor a lone surrogate.
    const unstorable = value.search(/\0|\p{Surrogate}/u);
    if (unstorable !== -1)
      throw badParameter(name, unstorable + 1, 'contains a NUL or an invalid character');
    parameters.push({ name, value, position: start });
  }
  return parameters;
}

/** Returns the error for one parameter. */
export function badParameter(field: string, position: number, message: string): AppError {
  const name = field.length > 100 ? `${field.slice(0, 100)}...` : field;
  return invalidParameter(name, message, { position });
}

/**
 * Decodes percent signs. A plus between two other characters is the space of a form; a plus at the beginning or
 * end of an item or next to another one is a plus (`+44`, `C++`): forms rarely send spaces there, and people often
 * forget to encode these.
 */
function decode(raw: string, nameOf: (raw: string) => string, start: number): string {
  // Joined once: a text that grows is copied whole each time that its end is read.
  const parts: string[] = [];
  let last: string | undefined;
  let at = 0;
  for (const piece of raw.split('+')) {
    const part = decodePiece(piece, nameOf(raw), start + at);
    if (at > 0) {
      last = isInside(last) && isInside(part[0]) ? ' ' : '+';
      parts.push(last);
    }
    parts.push(part);
    last = part.at(-1) ?? last;
    at += piece.length + 1;
  }
  return parts.join('');
}

function isInside(character: string | undefined): boolean {
  return character !== undefined && !'+|[]'.includes(character);
}

function decodePiece(piece: string, name: string, start: number): string {
  try {
    return decodeURIComponent(piece);
  } catch {
    const position = start + badEscapeAt(piece);
    throw badParameter(name, position, 'is not percent-encoded UTF-8');
  }
}

/** Returns the position of the first escapes that are not UTF-8. */
function badEscapeAt(piece: string): number {
  for (const run of piece.matchAll(/(?:%[0-9a-f]{2})+|%|[\ud800-\udfff]+/gi)) {
    try {
      decodeURIComponent(run[0]);
    } catch {
      return run.index;
    }
  }
  return 0;
}
