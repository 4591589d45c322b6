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
