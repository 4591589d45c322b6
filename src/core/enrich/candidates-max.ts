/**
 * Maximum number of records that a look-up reads for one value: a switchboard shared by thousands is ambiguous anyway. In a file
 * of its own, as the thread that reads a local copy loads what it imports each time that a copy is opened.
 */
export const CANDIDATES_MAX = 100;
