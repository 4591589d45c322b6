/** Kinds and operations of ledger lines in a person's words. */
import { operationLabel } from '../batch/operations.ts';

const kinds: Record<string, string> = {
  grant: 'Credits added',
  charge: 'Spent',
  refund: 'Given back',
};

const others: Record<string, string> = {
  'people.search': 'People search and exports',
};

export function kindLabel(kind: string): string {
  return kinds[kind] ?? kind;
}

/** An operation; of a line without one, its kind. */
export function usageLabel(name: string): string {
  return others[name] ?? kinds[name] ?? operationLabel(name);
}
