/** A moment, shown in the reader's time zone. */
import { formatTime } from '../format.ts';

/** @param at an ISO 8601 time */
export function Time({ at }: { at: string }) {
  return <time dateTime={at}>{formatTime(at)}</time>;
}
