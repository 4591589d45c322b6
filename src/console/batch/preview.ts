/** The first rows of a list as they were read. */
import type { Mapping } from './batch.ts';

export interface PreviewRow {
  row: number;
  line: number;
  cells: string[];
  /** The values that it is matched on, by kind. */
  identifiers: Record<string, string[]>;
  /** The reason why it cannot be matched, or null. */
  invalid: string | null;
}

export interface SampledColumn {
  /** From 1. */
  column: number;
  header: string | null;
  /** The first different values. */
  samples: string[];
  /** Share of the first cells that hold a value, from 0 to 1. */
  filled: number;
}

export interface Preview {
  mapping: Mapping;
  /** The columns chosen for the last list with this header, by kind; null unless they are other ones. */
  remembered: Record<string, number[]> | null;
  columns: SampledColumn[];
  /** The first lines of the file, titles and header included, by the row that a spreadsheet counts. */
  first_lines: { row: number; text: string }[];
  rows: PreviewRow[];
}
