/** Kinds of `lookup_values.kind`. The codes are stored, so they are never renumbered. */
export const lookupCodes = { jobTitles: 1, locations: 2, industries: 3 } as const;

/**
 * First ids of the values of `lookup_values` that are no position, city or industry: the id of a region, a country or
 * a title in people's own words is that of its row, plus this.
 */
export const lookupIdsFrom = { region: 2 ** 32, country: 2 * 2 ** 32, title: 3 * 2 ** 32 } as const;
