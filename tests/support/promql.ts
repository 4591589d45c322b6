/** What PromQL expressions name, read as simply as it can be: our names are told by how they begin. */

export interface Selector {
  metric: string;
  /** Labels in braces or in a `by`. */
  labels: string[];
}

const NAME = /\b((?:enrich|nodejs|process)_\w+)\b(?:\{([^}]*)\})?/g;

/** The metrics of an expression, each with the labels that it is filtered by. */
export function selectorsOf(expression: string): Selector[] {
  return [...expression.matchAll(NAME)].map(([, metric = '', inside = '']) => ({
    metric,
    labels: [...inside.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label),
  }));
}

/** The metric that a series belongs to: a histogram has three kinds of them. */
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
