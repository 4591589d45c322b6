import type { Sql } from '../db/client.ts';
import type { GraphState } from './graph-state.ts';

/**
 * Condition: the live graph has this state, so that what a local copy answered in it is what the graph holds; true for
 * null.
 */
export function isInState(sql: Sql, state: GraphState | null): ReturnType<Sql> {
  if (state === null) return sql`true`;
  return sql`${state.token}::uuid = (
    select token from graph.graph_changes order by number desc limit 1)`;
}
