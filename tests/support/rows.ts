import type { RowIdentifier, RowInput } from '../../src/core/enrich/outcomes.ts';
import { type IdentifierKind, normaliseIdentifier } from '../../src/core/identifiers/identifier.ts';
import { type OperationName, operations } from '../../src/core/operations.ts';

/** Reads these cells as a row of a list, as a batch does: in order of trust. */
export function rowOf(
  operation: OperationName,
  cells: Partial<Record<IdentifierKind, string>>,
): RowInput {
  const { identifiers: kinds, subject } = operations[operation];
  const identifiers: RowIdentifier[] = [];
  let invalid: string | null = null;
  for (const kind of kinds) {
    const text = cells[kind];
    if (text === undefined) continue;
    const normalised = normaliseIdentifier(kind, text, { subject });
    if ('values' in normalised) identifiers.push({ kind, values: normalised.values });
    else invalid ??= normalised.reason;
  }
  const { name: companyName } = cells;
  const isNamed = companyName !== undefined && identifiers.some(({ kind }) => kind === 'name');
  return {
    identifiers,
    invalid: identifiers.length > 0 ? null : (invalid ?? 'no_identifier'),
    ...(isNamed ? { companyName } : {}),
  };
}
