/** Writes that a killed process left unfinished: the store of files keeps each under its key, an id and `.tmp`. */

const UNFINISHED = /\.([0-9a-f]{8}-[0-9a-f]{4})-[0-9a-f-]{22}\.tmp$/;
const PART = /^batches\/[^/]+\/parts\//;
const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

/**
 * True for the key of a write that no process still makes: a part of a result an hour after it began, an upload, which may
 * take hours, after a day.
 */
export function isAbandonedWrite(key: string, now: number): boolean {
  const id = UNFINISHED.exec(key)?.[1];
  return id !== undefined && bornAt(id) < now - (PART.test(key) ? HOUR_MS : DAY_MS);
}

/** Returns the time of a UUID version 7, in milliseconds since 1970 (RFC 9562, section 5.7). */
export function bornAt(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}
