/** A moment, shown in the reader's time zone. */
import { formatTime } from '../format.ts';

/** @param at an ISO 8601 time */
export function Time({ at }: { at: string }) {
  // Where it is narrow, the line ends between the day and the time.
  const text = formatTime(at).replaceAll(/ (?=.*,)/g, '\u00a0');
  return <time dateTime={at}>{text}</time>;
}
