import { graphOf } from '../core/graph/graph-of.ts';
import { parseFilter } from '../core/search/parse.ts';
import { findUnknownValues, type UnknownValues } from '../core/search/unknown-values.ts';
import { inReadingTurn } from '../jobs/list/reading-turns.ts';
import type { RouteInput } from './http/define-route.ts';
import { readerOf } from './http/reader-of.ts';

/**
 * Returns the values of a filter that no lookup knows. Each condition is a look-up of its own and costs nothing: they wait for
 * the account's reading turn. Throws as `inReadingTurn`.
 */
export function unknownValuesInTurn(
  { context, key, response }: Pick<RouteInput, 'context' | 'key' | 'response'>,
  filter: string,
): Promise<UnknownValues> {
  const reader = readerOf({ key, response });
  const graph = graphOf(context, key.mode === 'live');
  return inReadingTurn(reader, () => findUnknownValues(graph, parseFilter(filter)));
}
