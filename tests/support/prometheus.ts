/**
 * Evaluates PromQL on scraped samples as Prometheus 2 does, including the extrapolation of `increase` and `rate`. It knows
 * only the functions that our alerts use, and throws on any other.
 */
import { must } from '../../src/core/lib/assert.ts';
import { type Expression, type Matcher, parsePromql, type Selector } from './promql.ts';
import { readScrape } from './scrape.ts';

type Labels = Record<string, string>;

/** A value of a vector, with its labels; those of a result have no metric name. */
export interface Value {
  labels: Labels;
  value: number;
}

interface Point {
  /** Seconds. */
  at: number;
  value: number;
}

/** All samples of one moment, by the names of their metrics. */
interface Moment {
  at: number;
  samples: Map<string, Value[]>;
}

/** The storage of a Prometheus: the samples of all targets, scrape after scrape. */
export class Prometheus {
  readonly #moments: Moment[] = [];

  /**
   * Stores the responses of the targets at a moment, in seconds; null for a target that did not respond. A series that a
   * moment lacks ends with it, as with the staleness markers of Prometheus.
   */
  store(at: number, job: string, targets: ReadonlyMap<string, string | null>): void {
    const moment: Moment = { at, samples: new Map() };
    const add = (metric: string, labels: Labels, value: number) => {
      const ofMetric = moment.samples.get(metric);
      if (ofMetric === undefined) moment.samples.set(metric, [{ labels, value }]);
      else ofMetric.push({ labels, value });
    };
    for (const [instance, text] of targets) {
      add('up', { instance, job }, text === null ? 0 : 1);
      for (const { name, labels, value } of text === null ? [] : readScrape(text).samples) {
        add(name, { ...labels, instance, job }, value);
      }
    }
    this.#moments.push(moment);
  }

  /** Evaluates an expression at the last moment. */
  evaluate(text: string): Value[] {
    const { at } = must(this.#moments.at(-1), 'a scrape');
    const result = this.#vectorOf(parsePromql(text), at);
    // A comparison keeps the name of its left side, which alerts do not show.
    return result.map(({ labels: { __name__, ...labels }, value }) => ({ labels, value }));
  }

  #vectorOf(expression: Expression, at: number): Value[] {
    switch (expression.kind) {
      case 'number':
        throw new Error('a number alone is no vector');
      case 'selector':
        return this.#instant(expression, at);
      case 'binary':
        return this.#binary(expression, at);
      case 'call':
        return this.#call(expression, at);
    }
  }

  #instant({ metric, matchers }: Selector, at: number): Value[] {
    const moment = this.#moments.findLast((one) => one.at <= at);
    return (moment?.samples.get(metric) ?? [])
      .filter(({ labels }) => isMatching(labels, matchers))
      .map(({ labels, value }) => ({ labels: { ...labels, __name__: metric }, value }));
  }

  /** The points of each series in the last `range` seconds. */
  #range({ metric, matchers, range }: Selector, at: number): { labels: Labels; points: Point[] }[] {
    const found = new Map<string, { labels: Labels; points: Point[] }>();
    for (const moment of this.#moments) {
      if (moment.at > at || moment.at < at - Number(range)) continue;
      for (const { labels, value } of moment.samples.get(metric) ?? []) {
        if (!isMatching(labels, matchers)) continue;
        const key = keyOf(labels);
        const series = found.get(key) ?? { labels, points: [] };
        series.points.push({ at: moment.at, value });
        found.set(key, series);
      }
    }
    return [...found.values()];
  }

  #call({ name, by, parameters }: Expression & { kind: 'call' }, at: number): Value[] {
    const [first, second] = parameters;
    const parameter = must(first, 'a parameter');
    switch (name) {
      case 'max':
        return aggregate(this.#vectorOf(parameter, at), by, (values) => Math.max(...values));
      case 'min':
        return aggregate(this.#vectorOf(parameter, at), by, (values) => Math.min(...values));
      case 'sum':
        return aggregate(this.#vectorOf(parameter, at), by, (values) =>
          values.reduce((sum, value) => sum + value, 0),
        );
      case 'increase':
      case 'rate': {
        const selector = parameter as Selector;
        const seconds = Number(selector.range);
        return this.#range(selector, at).flatMap(({ labels, points }) => {
          const grown = increaseOf(points, at, seconds);
          if (grown === null) return [];
          return [{ labels, value: name === 'rate' ? grown / seconds : grown }];
        });
      }
      case 'absent': {
        if (this.#vectorOf(parameter, at).length > 0) return [];
        const equal = (parameter as Selector).matchers.filter(({ operator }) => operator === '=');
        return [
          { labels: Object.fromEntries(equal.map(({ label, value }) => [label, value])), value: 1 },
        ];
      }
      case 'histogram_quantile':
        return quantile(
          (parameter as Expression & { kind: 'number' }).value,
          this.#vectorOf(must(second, 'the buckets'), at),
        );
      default:
        throw new Error(`${name}() is not known here`);
    }
  }

  #binary({ operator, left, right }: Expression & { kind: 'binary' }, at: number): Value[] {
    const lefts = this.#vectorOf(left, at);
    if (right.kind === 'number') {
      return lefts.flatMap((one) => calculated(operator, one, right.value));
    }
    const rights = this.#vectorOf(right, at);
    const has = (side: Value[], of: Value) => side.find((one) => nameless(one) === nameless(of));
    if (operator === 'or') return [...lefts, ...rights.filter((one) => !has(lefts, one))];
    return lefts.flatMap((one) => {
      const other = has(rights, one);
      return other === undefined ? [] : calculated(operator, one, other.value);
    });
  }
}

function keyOf(labels: Labels): string {
  return JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function nameless({ labels: { __name__, ...labels } }: Value): string {
  return keyOf(labels);
}

function isMatching(labels: Labels, matchers: readonly Matcher[]): boolean {
  return matchers.every(({ label, operator, value }) => {
    const found = labels[label] ?? '';
    if (operator === '=') return found === value;
    if (operator === '!=') return found !== value;
    return new RegExp(`^(?:${value})$`).test(found) === (operator === '=~');
  });
}

function aggregate(
  values: readonly Value[],
  by: readonly string[],
  combine: (values: number[]) => number,
): Value[] {
  const groups = new Map<string, { labels: Labels; values: number[] }>();
  for (const { labels, value } of values) {
    const kept = Object.fromEntries(
      by.flatMap((label) => (labels[label] === undefined ? [] : [[label, labels[label]]])),
    );
    const group = groups.get(keyOf(kept)) ?? { labels: kept, values: [] };
    group.values.push(value);
    groups.set(keyOf(kept), group);
  }
  return [...groups.values()].map((group) => ({
    labels: group.labels,
    value: combine(group.values),
  }));
}

/** A comparison keeps the left value or nothing; arithmetic returns the result, without the name. */
function calculated(operator: string, { labels, value }: Value, other: number): Value[] {
  const { __name__, ...rest } = labels;
  const kept = (isSo: boolean) => (isSo ? [{ labels, value }] : []);
  switch (operator) {
    case '==':
      return kept(value === other);
    case '>':
      return kept(value > other);
    case '<':
      return kept(value < other);
    case '/':
      return [{ labels: rest, value: value / other }];
    default:
      throw new Error(`${operator} is not known here`);
  }
}

/** `extrapolatedRate` of Prometheus: null for fewer than two points. */
function increaseOf(points: readonly Point[], end: number, range: number): number | null {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || points.length < 2) return null;
  let grown = last.value - first.value;
  for (const [index, { value }] of points.entries()) {
    const before = points[index - 1]?.value ?? 0;
    // The counter began again.
    if (index > 0 && value < before) grown += before;
  }
  const sampled = last.at - first.at;
  const average = sampled / (points.length - 1);
  const toStart = first.at - (end - range);
  const toZero = grown > 0 ? sampled * (first.value / grown) : Number.POSITIVE_INFINITY;
  const beyond = [Math.min(toStart, toZero), end - last.at].reduce(
    (sum, gap) => sum + (gap < average * 1.1 ? gap : average / 2),
    0,
  );
  return grown * ((sampled + beyond) / sampled);
}

/** Interpolates in the bucket that has the quantile. */
function quantile(share: number, buckets: readonly Value[]): Value[] {
  const groups = new Map<string, { labels: Labels; bounds: { le: number; count: number }[] }>();
  for (const { labels, value } of buckets) {
    const { le = '', __name__, ...rest } = labels;
    const group = groups.get(keyOf(rest)) ?? { labels: rest, bounds: [] };
    group.bounds.push({ le: le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le), count: value });
    groups.set(keyOf(rest), group);
  }
  return [...groups.values()].map(({ labels, bounds }) => {
    bounds.sort((a, b) => a.le - b.le);
    const rank = share * (bounds.at(-1)?.count ?? 0);
    const index = bounds.findIndex(({ count }) => count >= rank);
    const bucket = bounds[index];
    if (bucket === undefined || rank === 0) return { labels, value: Number.NaN };
    const below = bounds[index - 1] ?? { le: 0, count: 0 };
    if (bucket.le === Number.POSITIVE_INFINITY) return { labels, value: below.le };
    const within = (rank - below.count) / (bucket.count - below.count);
    return { labels, value: below.le + (bucket.le - below.le) * within };
  });
}
