import { countOf } from '../format.ts';

/**
 * Says which rows of a list have another number of cells, from its rows and those that are shorter than the widest; or nothing.
 */
export function sayWidths(rows: number, padded: number): string | null {
  if (padded === 0) return null;
  const widest = rows - padded;
  // The header may be the widest.
  if (widest > 0 && widest < padded) {
    return `${countOf(widest, 'row has', 'rows have')} more cells than the others.`;
  }
  return `${countOf(padded, 'row was', 'rows were')} shorter than the widest.`;
}
