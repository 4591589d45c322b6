/**
 * Reads the figures of an inline XBRL document (XHTML with tags of the namespace ix): contexts, units, and facts
 * without dimensions. Browsers' laxness is allowed, since filings have it; a document without its end is cut off.
 */
export interface Fact {
  /** Local name of the concept: `NetAssetsLiabilities`. */
  name: string;
  /** The end of its period. */
  periodEnd: string;
  /** `GBP`, or null for a figure that is not money. */
  currency: string | null;
  value: number;
}

interface Context {
  periodEnd: string | null;
  hasDimensions: boolean;
}

/** A tag with more attributes than any has is text: the stack of an expression is finite. */
const TOKEN =
  /<!--[\s\S]*?(?:-->|$)|<(\/?)([\w.-]+:)?([\w.-]+)((?:\s+[^\s=>/]+\s*=\s*(?:"[^"]*"|'[^']*')){0,1000})\s*(\/?)>/g;
/** Figures, contexts and units of one document: the largest have some ten thousand. */
const ITEMS_MAX = 100_000;
const END_TAG_CHARACTERS = '</html>'.length;
const ATTRIBUTE = /([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

/** Returns null for a document that is cut off. */
export function readFacts(html: string): Fact[] | null {
  if (!isWhole(html)) return null;
  const contexts = new Map<string, Context>();
  const units = new Map<string, string>();
  const found: { attributes: Record<string, string>; text: string }[] = [];
  let context: Context | null = null;
  let unit: string | null = null;
  const open: { attributes: Record<string, string>; text: string }[] = [];
  let textFrom = 0;
  for (const token of html.matchAll(TOKEN)) {
    const [whole, slash, prefix = '', name = '', attributesText = '', empty] = token;
    const before = html.slice(textFrom, token.index);
    textFrom = token.index + whole.length;
    const fact = open.at(-1);
    if (fact !== undefined) fact.text += before;
    if (name === '') continue;
    const isEnd = slash === '/';
    if (found.length + contexts.size + units.size > ITEMS_MAX) break;
    const tag = name.toLowerCase();
    if (tag === 'context') {
      if (!isEnd) {
        context = { periodEnd: null, hasDimensions: false };
        contexts.set(attributesOf(attributesText).id ?? '', context);
      } else context = null;
    } else if (context !== null && (tag === 'instant' || tag === 'enddate') && isEnd) {
      context.periodEnd = before.trim().slice(0, 10);
    } else if (context !== null && (tag === 'explicitmember' || tag === 'typedmember')) {
      context.hasDimensions = true;
    } else if (tag === 'unit') {
      unit = isEnd ? null : (attributesOf(attributesText).id ?? '');
    } else if (unit !== null && tag === 'measure' && isEnd) {
      const currency = /^iso4217:([A-Z]{3})$/.exec(before.trim())?.[1];
      if (currency !== undefined && !units.has(unit)) units.set(unit, currency);
    } else if (tag === 'nonfraction' && prefix !== '') {
      if (!isEnd) {
        const started = { attributes: attributesOf(attributesText), text: '' };
        found.push(started);
        if (empty !== '/') open.push(started);
      } else {
        // A figure of two names has one tag in the other.
        const ended = open.pop();
        const outer = open.at(-1);
        if (outer !== undefined && ended !== undefined) outer.text += ended.text;
      }
    }
  }
  return found.map((fact) => factOf(fact, contexts, units)).filter((fact) => fact !== null);
}

/** True when only comments follow the end of the document. One expression for them takes exponential time. */
function isWhole(html: string): boolean {
  let text = html.trimEnd();
  while (text.endsWith('-->')) {
    const from = text.lastIndexOf('<!--');
    if (from === -1) return false;
    text = text.slice(0, from).trimEnd();
  }
  return /<\/html>$/i.test(text.slice(-END_TAG_CHARACTERS));
}

function factOf(
  { attributes, text }: { attributes: Record<string, string>; text: string },
  contexts: ReadonlyMap<string, Context>,
  units: ReadonlyMap<string, string>,
): Fact | null {
  const context = contexts.get(attributes.contextref ?? '');
  if (context === undefined || context.hasDimensions || context.periodEnd === null) return null;
  const value = numberOf(text, attributes);
  if (value === null || !/^\d{4}-\d\d-\d\d$/.test(context.periodEnd)) return null;
  return {
    name: (attributes.name ?? '').replace(/^.*:/, ''),
    periodEnd: context.periodEnd,
    currency: units.get(attributes.unitref ?? '') ?? null,
    value,
  };
}

/** Formats of the registries of transformations 1 to 5, without the dashes that they have since the fourth. */
const COMMA_DECIMAL = /^num(?:dot|space)?comma(?:decimal)?$/;

/** Digits by the format, times ten to the scale, with the sign of the tag. */
function numberOf(text: string, attributes: Record<string, string>): number | null {
  const format = (attributes.format ?? '').replace(/^.*:|-/g, '').toLowerCase();
  const written = text.replace(/&nbsp;|&#160;|&#xa0;|\s/gi, '');
  const isDash = /^[-\u2013\u2014]$|^&#(?:8211|8212);$|^nil$|^no$/i.test(written);
  if (/zero|nocontent/.test(format) || isDash) return 0;
  const hasCommaDecimal = COMMA_DECIMAL.test(format);
  const digits = hasCommaDecimal
    ? written.replaceAll('.', '').replace(',', '.')
    : written.replaceAll(',', '');
  if (!/^\d+(?:\.\d+)?$/.test(digits)) return null;
  const scaled = Number(
    `${digits}e${/^[+-]?\d{1,2}$/.test(attributes.scale ?? '') ? attributes.scale : 0}`,
  );
  return attributes.sign === '-' ? -scaled : scaled;
}

function attributesOf(text: string): Record<string, string> {
  const attributes: Record<string, string> = {};
  for (const [, name = '', double, single] of text.matchAll(ATTRIBUTE)) {
    attributes[name.toLowerCase()] = double ?? single ?? '';
  }
  return attributes;
}
