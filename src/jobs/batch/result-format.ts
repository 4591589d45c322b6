/** The forms in which a result can be had. */
export const resultFormats = ['csv', 'csv-safe', 'jsonl', 'xlsx'] as const;
export type ResultFormat = (typeof resultFormats)[number];
