/** The further text of a company: its directors and its financial periods, JSON arrays with a separator between them. */
import type { RecordBytes } from '../enrich/match-data.ts';

/** In JSON it is escaped. */
const SEPARATOR = 0x1d;

export interface CompanyFacts<Json> {
  directors: Json | null;
  periods: Json | null;
}

/** Returns null for a company that has neither. */
export function encodeFacts({ directors, periods }: CompanyFacts<Buffer>): Buffer | null {
  if (directors === null && periods === null) return null;
  const nothing = Buffer.alloc(0);
  return Buffer.concat([directors ?? nothing, Buffer.from([SEPARATOR]), periods ?? nothing]);
}

/** Reads what `encodeFacts` wrote; undefined for a company that has neither. */
export function decodeFacts(text: RecordBytes | undefined): CompanyFacts<string> {
  if (text === undefined) return { directors: null, periods: null };
  const { bytes, from, to } = text;
  const middle = bytes.indexOf(SEPARATOR, from);
  const directors = bytes.toString('utf8', from, middle);
  const periods = bytes.toString('utf8', middle + 1, to);
  return { directors: directors || null, periods: periods || null };
}
