import { columnKinds } from '../words.ts';
import type { Operation } from './operations.ts';

/** An empty list as CSV: a header with the columns on which an operation matches. */
export function templateOf({ identifiers }: Operation): string {
  return `${identifiers.map((kind) => columnKinds[kind] ?? kind).join(',')}\n`;
}
