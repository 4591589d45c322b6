/** The formats of a result. */
export const resultFormats = ['csv', 'csv-safe', 'jsonl', 'xlsx'] as const;
export type ResultFormat = (typeof resultFormats)[number];
