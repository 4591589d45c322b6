/** The identifier kinds that have columns of their own: a column of company names is one of names, in every list. */
import {
  type IdentifierKind,
  identifierKinds,
  type Kinds,
  kindNames,
} from '../core/identifiers/identifier.ts';
import type { ColumnSigns } from '../core/identifiers/kind.ts';

export type ColumnKind = {
  [Kind in IdentifierKind]: Kinds[Kind] extends { column: object } ? Kind : never;
}[IdentifierKind];

/** How a column shows that it holds the kind. */
export const columnSigns = Object.fromEntries(
  kindNames.flatMap((kind) => {
    const { column } = identifierKinds[kind];
    return column === undefined ? [] : [[kind, column]];
  }),
) as Readonly<Record<ColumnKind, ColumnSigns>>;

export const columnKinds = Object.keys(columnSigns) as readonly ColumnKind[];

/** Returns a value for each kind. */
export function ofEachKind<Value>(
  value: (signs: ColumnSigns, kind: ColumnKind) => Value,
): Record<ColumnKind, Value> {
  const entries = columnKinds.map((kind) => [kind, value(columnSigns[kind], kind)]);
  return Object.fromEntries(entries) as Record<ColumnKind, Value>;
}
