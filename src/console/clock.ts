/** The time of the service, whose days and ends of keys the console shows: the clock of the browser may be wrong. */

/** Milliseconds that the browser is ahead by. */
let ahead = 0;

/** Learns the time from a response. */
export function heedTime(response: Response): void {
  const sent = Date.parse(response.headers.get('Date') ?? '');
  if (!Number.isNaN(sent)) ahead = Date.now() - sent;
}

export function now(): number {
  return Date.now() - ahead;
}
