/** Extracts names from PromQL expressions with a simple scan: our metrics are recognised by their prefixes. */

export interface Selector {
  metric: string;
  /** Labels in braces or in a `by`. */
  labels: string[];
}

const NAME = /\b((?:enrich|nodejs|process)_\w+)\b(?:\{([^}]*)\})?/g;

/** The metrics of an expression, each with its label filters. */
export function selectorsOf(expression: string): Selector[] {
  return [...expression.matchAll(NAME)].map(([, metric = '', inside = '']) => ({
    metric,
    labels: [...inside.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label),
  }));
}

/** The metric of a series: a histogram has three kinds of series. */
export function familyOf(metric: string, known: readonly string[]): string | undefined {
  const family = metric.replace(/_(bucket|sum|count)$/, '');
  return known.find((name) => name === metric) ?? known.find((name) => name === family);
}

/** Labels that an expression groups by. */
export function groupsOf(expression: string): string[] {
  return [...expression.matchAll(/\bby\s*\(([^)]*)\)/g)].flatMap(([, inside = '']) =>
    inside.split(',').flatMap((label) => label.trim() || []),
  );
}
