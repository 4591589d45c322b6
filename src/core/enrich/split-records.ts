/** Splits the texts in which records are read. */
import type { RecordBytes } from './match-data.ts';
import { RECORD_SEPARATOR, SUPPRESSED_MARK } from './records.sql.ts';

/** Calls `match` for each record of the texts; undefined for one that is gone or opted out. */
export function splitRecords<Value>(
  texts: readonly Buffer[],
  match: (record: RecordBytes) => Value,
): (Value | undefined)[] {
  const matches: (Value | undefined)[] = [];
  for (const text of texts) splitText(text, match, matches);
  return matches;
}

function splitText<Value>(
  blob: Buffer,
  match: (record: RecordBytes) => Value,
  matches: (Value | undefined)[],
): void {
  let from = 0;
  while (from <= blob.length) {
    const end = blob.indexOf(RECORD_SEPARATOR, from);
    const to = end === -1 ? blob.length : end;
    if (from === to || blob[from] === SUPPRESSED_MARK) matches.push(undefined);
    else matches.push(match({ bytes: blob, from, to }));
    from = to + 1;
  }
}
