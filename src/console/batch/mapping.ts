/** The mapping of a list, as a choice for each of its columns. */
import type { Batch, Mapping } from './batch.ts';
import { contextKinds, findOperation, type Operation } from './operations.ts';

/**
 * Kinds by column, from 1; '' for a column that is not used. Columns of one kind are in the order in which they are read.
 */
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
  for (const [column, kind] of columns) {
    if (kind !== '') request[kind] = [...(request[kind] ?? []), column];
  }
  return request;
}

/** With another choice for a column: those of its kind are then read in the order of the file. */
export function choose(columns: ColumnKinds, column: number, kind: string): ColumnKinds {
  const others = [...columns].filter(([other]) => other !== column);
  const own = [...others.filter(([, one]) => one === kind), [column, kind] as const];
  own.sort(([one], [other]) => one - other);
  return new Map([...others.filter(([, one]) => one !== kind), ...own]);
}

/** With the columns of names read in the opposite order. */
export function swapNames(columns: ColumnKinds): ColumnKinds {
  const names = [...columns].filter(([, kind]) => kind === 'person_name').reverse();
  return new Map([...[...columns].filter(([, kind]) => kind !== 'person_name'), ...names]);
}

/** True when a column is chosen by which anything can be found. */
export function isUsable({ operation, match }: Batch, columns: ColumnKinds): boolean {
  if (match === 'likely' && [...columns.values()].includes('person_name')) return true;
  const identifiers = findOperation(operation)?.identifiers ?? [];
  return [...columns.values()].some((kind) => identifiers.includes(kind));
}

/** The kinds of columns that support a match of the operation, without those by which it finds. */
export function evidenceOf({ identifiers }: Operation): readonly string[] {
  // The name of a company is what a list of companies is matched on.
  const isOfCompanies = identifiers.includes('name');
  return contextKinds.filter((kind) => !isOfCompanies || !kind.endsWith('_name'));
}
