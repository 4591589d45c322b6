/** How rows are matched: by exact identifiers alone, or by name and company or place where none is found. */
export const matchModes = ['exact', 'likely'] as const;
export type MatchMode = (typeof matchModes)[number];

/** The probability that a likely match needs unless the caller says otherwise. */
export const MIN_PROBABILITY_DEFAULT = 0.95;
