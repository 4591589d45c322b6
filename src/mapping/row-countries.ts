/** The countries of a row: those that it states, else those of the list. */
import { countryCode, mayMeanCountry, phoneRegion } from '../core/identifiers/country.ts';
import type { NormaliseContext } from '../core/identifiers/kind.ts';
import { isPlaceholder } from '../core/identifiers/placeholder.ts';
import {
  DEFAULT_REGISTER,
  registersByName,
  UNKNOWN_REGISTER,
} from '../core/identifiers/registry-number.ts';
import type { CellColumn } from '../formats/csv/cells.ts';
import { wordsOfColumnName } from './column-names.ts';

/** Countries of the rows that state none. */
export interface ListCountries {
  /** ISO 3166 alpha-2 region of phone numbers, before `country`. */
  defaultRegion?: string | null;
  /** ISO 3166 alpha-2 country of registry numbers and phone numbers, and of what is found by its name. */
  country?: string | null;
}

type NumberContext = Pick<NormaliseContext, 'region' | 'registryCountry'>;

/**
 * Returns the context of a row's numbers. The list's countries are those of rows that state none: a cell that names a country
 * which is not known is of another one.
 * @param cells the cells of the row's columns of countries, in the order to try
 */
export function numberContext(
  cells: readonly string[],
  { defaultRegion = null, country = null }: ListCountries,
): NumberContext {
  const stated = cells.filter((cell) => isStatement(cell));
  const isOther = (code: string) =>
    stated.length > 0 && !stated.some((cell) => mayMeanCountry(cell, code));
  const listed = defaultRegion ?? country;
  const otherwise = listed === null || isOther(listed) ? null : listed;
  const region = first(stated, phoneRegion) ?? otherwise;
  const register =
    first(stated, countryCode) ??
    (isOther(country ?? DEFAULT_REGISTER) ? UNKNOWN_REGISTER : country);
  return {
    ...(region === null ? {} : { region }),
    ...(register === null ? {} : { registryCountry: register }),
  };
}

/** Returns the columns of countries, and one more that has the country of the list in rows that state none. */
export function withListCountry(
  columns: readonly CellColumn[],
  country: string | null,
): readonly CellColumn[] {
  if (country === null) return columns;
  const isStated = (index: number) => columns.some((column) => isStatement(column.at(index)));
  return [...columns, { at: (index) => (isStated(index) ? '' : country) }];
}

/** `NA` is Namibia. */
function isStatement(cell: string): boolean {
  return (cell.trim() !== '' && !isPlaceholder(cell)) || countryCode(cell) !== null;
}

function first(cells: readonly string[], read: (cell: string) => string | null): string | null {
  for (const cell of cells) {
    const code = read(cell);
    if (code !== null) return code;
  }
  return null;
}

/**
 * Returns the country of the register that a column's name states, such as `KvK-nummer`; `UNKNOWN_REGISTER` for a name that
 * registers of several countries have, such as `Handelsregister`; null for any other name.
 */
export function registerOf(header: string | null): string | null {
  return first(wordsOfColumnName(header ?? ''), (word) => registersByName.get(word) ?? null);
}

/** Returns the context of registry numbers in a column with a register: its own, whatever the country of the row. */
export function registerContext(register: string, own: NumberContext): NumberContext {
  if (register !== UNKNOWN_REGISTER) return { registryCountry: register };
  return own.registryCountry === undefined ? { registryCountry: UNKNOWN_REGISTER } : own;
}
