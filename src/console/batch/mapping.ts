/** The mapping of a list, as a choice for each of its columns. */
import type { Batch, Mapping } from './batch.ts';
import { contextKinds, findOperation, type Operation } from './operations.ts';

/** Kinds by column, from 1; '' for a column that is not used. */
export type ColumnKinds = ReadonlyMap<number, string>;

/** A column holds one kind at most here. */
export function toColumns(mapping: Mapping): ColumnKinds {
  const columns = new Map<number, string>();
  for (const [kind, mapped] of Object.entries(mapping)) {
    for (const { column } of mapped) columns.set(column, kind);
  }
  return columns;
}

/** The same of a mapping as the API takes it. */
export function fromRequest(request: Readonly<Record<string, readonly number[]>>): ColumnKinds {
  const chosen = Object.entries(request);
  return new Map(chosen.flatMap(([kind, columns]) => columns.map((column) => [column, kind])));
}

/** The mapping as the API takes it. */
export function toRequest(columns: ColumnKinds): Record<string, number[]> {
  const request: Record<string, number[]> = {};
  for (const [column, kind] of [...columns].sort(([one], [other]) => one - other)) {
    if (kind !== '') request[kind] = [...(request[kind] ?? []), column];
  }
  return request;
}

/** True when a column is chosen by which anything can be found. */
export function isUsable({ operation }: Batch, columns: ColumnKinds): boolean {
  const identifiers = findOperation(operation)?.identifiers ?? [];
  return [...columns.values()].some((kind) => identifiers.includes(kind));
}

/** The kinds of columns that support a match of the operation, without those by which it finds. */
export function evidenceOf({ identifiers }: Operation): readonly string[] {
  // The name of a company is what a list of companies is matched on.
  const isOfCompanies = identifiers.includes('name');
  return contextKinds.filter((kind) => !isOfCompanies || !kind.endsWith('_name'));
}
