/** The first rows of a list as they were read. */
import type { Mapping } from './batch.ts';

export interface PreviewRow {
  row: number;
  line: number;
  cells: string[];
  /** What is looked up, by kind. */
  identifiers: Record<string, string[]>;
  /** Why nothing is looked up; null when something is. */
  invalid: string | null;
}

export interface Preview {
  mapping: Mapping;
  rows: PreviewRow[];
}

/** Kinds by column, from 1: a column holds one kind at most here. */
export function toColumns(mapping: Mapping): Map<number, string> {
  const columns = new Map<number, string>();
  for (const [kind, mapped] of Object.entries(mapping)) {
    for (const { column } of mapped) columns.set(column, kind);
  }
  return columns;
}

/** The mapping as the API takes it. */
export function toRequest(columns: ReadonlyMap<number, string>): Record<string, number[]> {
  const request: Record<string, number[]> = {};
  for (const [column, kind] of [...columns].sort(([one], [other]) => one - other)) {
    if (kind !== '') request[kind] = [...(request[kind] ?? []), column];
  }
  return request;
}
