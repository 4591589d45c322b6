/**
 * The grammar of a filter: parses a raw query string into a typed tree. Pure. Conditions are joined by AND, the
 * values of one by OR (except `skills` and `words`, as noted there). Everything it cannot parse is refused with
 * the parameter's name and the position; nothing is guessed or ignored.
 */
import { AppError } from '../lib/errors.ts';
import {
  type ObjectPath,
  type PageParameterName,
  pageParameterNames,
  type SearchParameter,
  searchParameters,
} from './fields.ts';
import { type Item, parseItems } from './parse-items.ts';
import { badParameter, type RawParameter, splitQuery } from './parse-query.ts';
import { parseRange, parseSpan, type Range, type Span } from './parse-ranges.ts';

/** Presence of a field, in addition to its values. */
export interface Presence {
  present: boolean;
  absent: boolean;
}

/** A city of a country; a null city is any of the country. Both as written. */
export interface Place {
  city: string | null;
  country: string;
}

/** One parameter. `field` is a field of the person record, or `headCount` or `positionName`. */
export type Condition = {
  parameter: string;
  field: string;
  inside?: ObjectPath;
  presence: Presence;
  /** True when the people who meet it are left out. */
  excludes?: true;
} & (
  | { node: 'text'; texts: string[] }
  | { node: 'integer'; ranges: Range[] }
  | { node: 'time'; spans: Span[] }
  | { node: 'object' }
  /** Each text is one alternative, whose words must all occur. */
  | { node: 'words'; texts: string[] }
  /** All of the texts. */
  | { node: 'skills'; texts: string[] }
  | { node: 'overlap'; ranges: Range[] }
  | { node: 'age'; ranges: Range[] }
  | { node: 'place'; places: Place[] }
  /** Any of these fields is present. */
  | { node: 'anyPresent'; fields: string[] }
  /** The account owns the person. */
  | { node: 'owned' }
);

/** A filter has at least one condition, at most one per parameter. */
export interface Filter {
  conditions: Condition[];
}

/** Each item of these kinds is compared with every record, so fewer are allowed than of other items. */
const COMPARED_ITEMS_MAX = 100;
const comparedKinds: ReadonlySet<string> = new Set(['overlap', 'age', 'time', 'place', 'words']);

/**
 * Parses the raw query string of a filter (the part after `?`, percent-encoded). Page parameters (`limit`, `skip`,
 * `cursor`, `count`, `partial`) are not part of a filter and are refused here. Throws `AppError` 400:
 * `invalid_parameter` with parameter and position (one-based: inside the decoded value; for a parameter as a
 * whole, inside the query string), or `filter_required`.
 */
export function parseFilter(query: string): Filter {
  return filterOf(splitQuery(query), 'is a page parameter, not a filter');
}

/** Parses the filter, and returns the page parameters as written; otherwise as `parseFilter`. */
export function parseSearchQuery(query: string): {
  filter: Filter;
  page: Map<PageParameterName, RawParameter>;
} {
  const page = new Map<PageParameterName, RawParameter>();
  const rest: RawParameter[] = [];
  for (const parameter of splitQuery(query)) {
    if (isPageParameter(parameter.name)) page.set(parameter.name, parameter);
    else rest.push(parameter);
  }
  return { filter: filterOf(rest, 'is not a recognised parameter'), page };
}

function filterOf(parameters: readonly RawParameter[], refusal: string): Filter {
  const conditions = parameters.map((raw) => {
    const parameter = searchParameters.get(raw.name);
    if (parameter !== undefined) return parseCondition(parameter, raw.value);
    const message = isPageParameter(raw.name) ? refusal : 'is not a recognised parameter';
    throw badParameter(raw.name, raw.position, message);
  });
  if (conditions.length > 0) return { conditions };
  throw new AppError({
    code: 'filter_required',
    status: 400,
    message: 'Give at least one filter, such as `positionIds=[12|15]`.',
  });
}

function isPageParameter(name: string): name is PageParameterName {
  return (pageParameterNames as readonly string[]).includes(name);
}

function parseCondition(parameter: SearchParameter, value: string): Condition {
  const { name, kind, field, inside } = parameter;
  const items = parseItems(name, value, { commas: kind === 'ids' });
  const extra = comparedKinds.has(kind) ? items[COMPARED_ITEMS_MAX] : undefined;
  if (extra !== undefined) {
    throw badParameter(name, extra.position, `takes at most ${COMPARED_ITEMS_MAX} items`);
  }
  const { presence, valued } = takePresence(parameter, items);
  const base = {
    parameter: name,
    field,
    presence,
    ...(inside === undefined ? {} : { inside }),
    ...(parameter.excludes ? { excludes: parameter.excludes } : {}),
  };
  switch (kind) {
    case 'text':
    case 'words':
    case 'skills':
      return { ...base, node: kind, texts: valued.map(({ text }) => text) };
    case 'integer':
    case 'ids':
      return {
        ...base,
        node: 'integer',
        ranges: valued.map((item) => parseRange(name, item, { thousands: false })),
      };
    case 'overlap':
    case 'age':
      return {
        ...base,
        node: kind,
        ranges: valued.map((item) => parseRange(name, item, { thousands: kind === 'overlap' })),
      };
    case 'time':
      return { ...base, node: 'time', spans: valued.map((item) => parseSpan(name, item)) };
    case 'place':
      return { ...base, node: 'place', places: valued.map((item) => parsePlace(name, item)) };
    case 'choice':
      return chosen(parameter, base, valued);
    case 'object':
      refuseValue(name, valued[0]);
      return { ...base, node: 'object' };
    case 'owned':
      if (valued.length !== 1 || valued[0]?.text !== '1') throw badParameter(name, 1, 'must be 1');
      return { ...base, node: 'owned' };
  }
}

/** Separates the items `*` and `null` from the others. */
function takePresence(
  { name, kind, takesPresence }: SearchParameter,
  items: readonly Item[],
): { presence: Presence; valued: Item[] } {
  const presence = { present: false, absent: false };
  const valued: Item[] = [];
  for (const item of items) {
    if (item.keyword === null || (item.keyword === 'null' && !takesPresence)) {
      valued.push(item);
      continue;
    }
    if (!takesPresence) throw badParameter(name, item.position, 'does not take `*`');
    if (kind === 'skills' && items.length > 1) {
      throw badParameter(name, item.position, `\`${item.keyword}\` must be the only item here`);
    }
    if (item.keyword === '*') presence.present = true;
    else presence.absent = true;
  }
  return { presence, valued };
}

type Base = Pick<Condition, 'parameter' | 'field' | 'presence'>;

/** A choice is a text of its field, or the presence of others. */
function chosen({ name, choices = {} }: SearchParameter, base: Base, items: Item[]): Condition {
  const texts = new Set<string>();
  const fields = new Set<string>();
  for (const { text, position } of items) {
    const word = text.toLowerCase();
    const choice = Object.hasOwn(choices, word) ? choices[word] : undefined;
    if (choice === undefined) {
      const allowed = Object.keys(choices).join(', ');
      throw badParameter(name, position, `must be ${choices['2'] ? 'one of ' : ''}${allowed}`);
    }
    if ('value' in choice) texts.add(choice.value);
    else fields.add(choice.present);
  }
  return fields.size > 0
    ? { ...base, node: 'anyPresent', fields: [...fields] }
    : { ...base, node: 'text', texts: [...texts] };
}

function refuseValue(name: string, item: Item | undefined): void {
  if (item === undefined) return;
  throw badParameter(
    name,
    item.position,
    `is an object: use \`*\` or \`null\`, or a value inside it, as in \`${name}.name\``,
  );
}

/** `<city>:<country>`; the last colon separates them. */
function parsePlace(name: string, { text, position }: Item): Place {
  const at = text.lastIndexOf(':');
  const city = text.slice(0, Math.max(0, at)).trim();
  const country = text.slice(at + 1).trim();
  if (at === -1 || country === '') {
    throw badParameter(name, position, 'must be `<city>:<country>`, or `:<country>` for all of it');
  }
  return { city: city === '' ? null : city, country };
}
