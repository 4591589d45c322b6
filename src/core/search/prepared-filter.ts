import type { Owner } from '../accounts/owner.ts';
import type { Filter } from './parse.ts';

export interface PlaceIds {
  cityIds: number[];
  countryIds: number[];
}

/** A filter that can be compiled, for one owner and one graph; made by `prepareFilter`. */
export interface PreparedFilter {
  filter: Filter;
  owner: Owner;
  /** The calendar year in which ages are counted. */
  year: number;
  /** Ids of the objects that hold the values, or with which those of the values were joined, by index of the condition. */
  objectIds: ReadonlyMap<number, number[]>;
  places: ReadonlyMap<number, PlaceIds>;
  hasDoNotContact: boolean;
}
