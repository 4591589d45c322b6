/** Codes of `source_records.entity`. They are stored, so they are never renumbered. */
export const entityCodes = { company: 1, person: 2, officer: 3, financial: 4 } as const;
export type SourceEntity = keyof typeof entityCodes;
