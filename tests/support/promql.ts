/**
 * Parses PromQL, as far as our alerts and panels use it. The grammar is that of
 * https://prometheus.io/docs/prometheus/latest/querying/basics.
 */

export interface Matcher {
  label: string;
  operator: '=' | '!=' | '=~' | '!~';
  value: string;
}

export type Selector = { kind: 'selector'; metric: string; matchers: Matcher[]; range: Duration };

/** Seconds of a range; null for an instant selector; the text of a variable of Grafana. */
type Duration = number | string | null;

export type Expression =
  | { kind: 'number'; value: number }
  | Selector
  | { kind: 'call'; name: string; by: string[]; parameters: Expression[] }
  | { kind: 'binary'; operator: string; left: Expression; right: Expression };

const TOKEN =
  /\s*(?:(\[[^\]]+\])|("(?:[^"\\]|\\.)*")|(\d+(?:\.\d+)?(?:e[+-]?\d+)?)|([a-z_:][\w:]*)|(=~|!~|!=|==|>=|<=|[(){},=<>*/+-]))/iy;
const UNIT_SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;
/** From the loosest binding to the tightest; each is read from left to right. */
const precedence = [
  ['or'],
  ['and', 'unless'],
  ['==', '!=', '>=', '<=', '>', '<'],
  ['+', '-'],
  ['*', '/'],
];

/** Returns the expression as a tree. Throws on a text that is not one, or that uses a form that we do not. */
export function parsePromql(text: string): Expression {
  const tokens = tokensOf(text);
  let next = 0;
  const take = (expected?: string): string => {
    const token = tokens[next++];
    if (token === undefined || (expected !== undefined && token !== expected)) {
      throw new Error(`${expected ?? 'more'} expected, ${token ?? 'the end'} found: ${text}`);
    }
    return token;
  };
  const isNext = (token: string) => tokens[next] === token;
  const takeIf = (token: string): boolean => isNext(token) && take() === token;

  const readList = <T>(end: string, read: () => T): T[] => {
    const items: T[] = [];
    while (!takeIf(end)) {
      items.push(read());
      if (!isNext(end)) take(',');
    }
    return items;
  };
  const readBinary = (level: number): Expression => {
    const operators = precedence[level];
    if (operators === undefined) return readOperand();
    let left = readBinary(level + 1);
    while (operators.includes(tokens[next] ?? '')) {
      const operator = take();
      left = { kind: 'binary', operator, left, right: readBinary(level + 1) };
    }
    return left;
  };
  const readOperand = (): Expression => {
    const token = take();
    if (token === '(') {
      const inside = readBinary(0);
      take(')');
      return inside;
    }
    if (/^\d/.test(token)) return { kind: 'number', value: Number(token) };
    if (!/^[a-z_:]/i.test(token)) throw new Error(`unexpected ${token}: ${text}`);
    if (!isNext('(') && !isNext('by')) return readSelector(token);
    const by = takeIf('by') && takeIf('(') ? readList(')', () => take()) : [];
    take('(');
    return { kind: 'call', name: token, by, parameters: readList(')', () => readBinary(0)) };
  };
  const readSelector = (metric: string): Selector => {
    const matchers = takeIf('{') ? readList('}', readMatcher) : [];
    const range = tokens[next]?.startsWith('[') ? durationOf(take().slice(1, -1)) : null;
    return { kind: 'selector', metric, matchers, range };
  };
  const readMatcher = (): Matcher => {
    const label = take();
    const operator = take() as Matcher['operator'];
    if (!['=', '!=', '=~', '!~'].includes(operator)) throw new Error(`no matcher: ${text}`);
    return { label, operator, value: JSON.parse(take()) as string };
  };

  const whole = readBinary(0);
  if (next < tokens.length) throw new Error(`unexpected ${tokens[next]}: ${text}`);
  return whole;
}

function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  const trimmed = text.trim();
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < trimmed.length; ) {
    const from = TOKEN.lastIndex;
    const token = TOKEN.exec(trimmed)?.[0].trim();
    if (token === undefined) throw new Error(`unexpected ${trimmed.slice(from)}`);
    tokens.push(token);
  }
  return tokens;
}

/** Returns the seconds of a duration (`90s`, `1h30m`), or the text of a variable of Grafana. */
export function durationOf(text: string): number | string {
  if (text.startsWith('$')) return text;
  if (!/^(\d+[smhd])+$/.test(text)) throw new Error(`no duration: ${text}`);
  return [...text.matchAll(/(\d+)([smhd])/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * UNIT_SECONDS[unit as keyof typeof UNIT_SECONDS],
    0,
  );
}

/** All parts of an expression, itself included. */
function partsOf(expression: Expression): Expression[] {
  const children =
    expression.kind === 'call'
      ? expression.parameters
      : expression.kind === 'binary'
        ? [expression.left, expression.right]
        : [];
  return [expression, ...children.flatMap(partsOf)];
}

/** The selectors of an expression, each a metric with its label filters. */
export function selectorsOf(expression: Expression): Selector[] {
  return partsOf(expression).filter((part) => part.kind === 'selector');
}

/** Labels that an expression groups by. */
export function groupsOf(expression: Expression): string[] {
  return partsOf(expression).flatMap((part) => (part.kind === 'call' ? part.by : []));
}

/** The metric of a series: a histogram has three kinds of series. */
export function familyOf(metric: string, known: readonly string[]): string | undefined {
  const family = metric.replace(/_(bucket|sum|count)$/, '');
  return known.find((name) => name === metric) ?? known.find((name) => name === family);
}
