/** The records to render: ids in a range (both ends included), or those of a table with a column `id`. */
export type RecordSelection = { fromId: number; toId: number } | { idsIn: string };
