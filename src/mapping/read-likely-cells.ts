/** The cells of a row that a likely match is found by. */
import type { LikelyCells } from '../core/likely/likely-row.ts';
import { readCountry } from '../core/match/place.ts';
import type { ColumnMapping } from './columns.ts';

/** Returns the reader of rows: `cellsOf` has the cells of a mapped kind, one for each of its columns. */
export function likelyCells(
  subject: 'person' | 'company',
  cellsOf: (kind: string) => readonly string[],
): LikelyCells {
  const first = (kind: string) => cellsOf(kind).find((cell) => cell !== '') ?? '';
  const country = readCountry(first('country'));
  const city = first('city');
  if (subject === 'company') {
    return { name: first('name') || first('company_name'), city, country };
  }
  const parts = cellsOf('person_name');
  const context = { company: first('company_name'), title: first('title'), city, country };
  if (parts.length < 2) return { name: parts[0] ?? '', ...context };
  const firstName = parts.slice(0, -1).join(' ').trim();
  return { firstName, lastName: parts.at(-1) ?? '', ...context };
}

/** True when a list has what a likely match needs. */
export function hasLikelyColumns(subject: 'person' | 'company', mapping: ColumnMapping): boolean {
  return subject === 'person' ? mapping.person_name !== undefined : mapping.name !== undefined;
}
