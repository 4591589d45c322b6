/** Codes of `source_records.entity`. They are stored, so they are never renumbered. */
export const entityCodes = { company: 1, person: 2, officer: 3, financial: 4 } as const;
export type SourceEntity = keyof typeof entityCodes;

/** Codes of the entities with ids of their own. */
export const identifiedCodes = [entityCodes.company, entityCodes.person] as const;
/** Codes of the facts of a company, which have its id. */
export const factCodes = [entityCodes.officer, entityCodes.financial] as const;
