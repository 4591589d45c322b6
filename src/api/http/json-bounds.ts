/**
 * Bounds the shape of a JSON text before it is parsed: time and memory of parsing, validating and refusing it grow with its
 * levels, members and elements much faster than with its bytes.
 */
import { type AppError, invalidParameter } from '../../core/lib/errors.ts';

const LEVELS_MAX = 32;
/** The widest object of the API is a row. */
export const MEMBERS_MAX = 100;
const NAME_SHOWN_MAX = 100;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** An object or list around the place that is read. */
interface Container {
  isObject: boolean;
  /** Commas read: the index of the present element. */
  commas: number;
  /** The place of the last string directly inside: in an object the name of the present member, or its value. */
  nameFrom: number;
  nameTo: number;
  /** The number of commas when the name of the present member was read. */
  namedAt: number;
}

/**
 * Throws `AppError` 400 for a text with more than 32 levels, an object of more than 100 members or a list of more than
 * `elementsMax`, and names the member. Accepts texts that are not JSON: their parser refuses them.
 */
export function assertJsonBounds(text: string, elementsMax: number): void {
  const open: Container[] = [];
  let inside: Container | undefined;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      if (inside?.isObject && inside.namedAt !== inside.commas) {
        inside.nameFrom = at + 1;
        inside.nameTo = end;
        inside.namedAt = inside.commas;
      }
      at = end;
    } else if (code === COMMA && inside !== undefined) {
      inside.commas++;
      const max = inside.isObject ? MEMBERS_MAX : elementsMax;
      if (inside.commas >= max) throw tooMany(text, open, inside.isObject, max);
    } else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      if (open.length === LEVELS_MAX) throw tooDeep(text, open);
      const isObject = code === OPEN_OBJECT;
      inside = { isObject, commas: 0, nameFrom: 0, nameTo: 0, namedAt: -1 };
      open.push(inside);
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) {
      open.pop();
      inside = open.at(-1);
    }
  }
}

/** The index of the quote that ends the string from `start` on, or of the text's end. */
export function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let from = end;
    while (text.charCodeAt(from - 1) === BACKSLASH) from--;
    if ((end - from) % 2 === 0) return end;
  }
  return text.length;
}

function tooMany(text: string, open: readonly Container[], isObject: boolean, max: number) {
  const message = isObject
    ? `must have at most ${max} members. Leave out those that are not needed`
    : `must have at most ${max} elements. Send the rest in further calls`;
  return invalidParameter(pathOf(text, open.slice(0, -1)), message);
}

function tooDeep(text: string, open: readonly Container[]): AppError {
  const [outermost] = open;
  const message = `must have at most ${LEVELS_MAX} levels of objects and lists. Send a flatter value`;
  return invalidParameter(pathOf(text, outermost === undefined ? [] : [outermost]), message);
}

/** The path to what is read inside these containers, such as `rows.3`; `body` outside of them. */
function pathOf(text: string, containers: readonly Container[]): string {
  const names = containers.map(({ isObject, commas, nameFrom, nameTo }) =>
    isObject ? text.slice(nameFrom, Math.min(nameTo, nameFrom + NAME_SHOWN_MAX)) : commas,
  );
  return names.join('.') || 'body';
}
