import type { Filter } from './parse.ts';

/** Whose search it is: an account, over the live graph or that of test keys. */
export interface SearchOwner {
  accountId: string;
  live: boolean;
}

export interface PlaceIds {
  cityIds: number[];
  countryIds: number[];
}

/** A filter that can be compiled, for one owner and one graph; made by `prepareFilter`. */
export interface PreparedFilter {
  filter: Filter;
  owner: SearchOwner;
  /** The calendar year that ages are counted in. */
  year: number;
  /** By the place of the condition: ids of the objects that hold the values. */
  objectIds: ReadonlyMap<number, number[]>;
  places: ReadonlyMap<number, PlaceIds>;
  hasDoNotContact: boolean;
}
