/** Notices that the columns of given and family names hold each other's names, by the names of the graph. */
import type { Sql } from '../db/client.ts';
import { familyKey, givenKey } from '../match/keys.ts';
import { splitWords } from '../match/person-name.ts';
import { discloseCount } from '../search/free-responses.ts';
import { selectNameCounts } from './likely.sql.ts';

/** The two cells of a row's name. */
export interface NameCells {
  first: string;
  last: string;
}

/** Rows that must tell the order, and the share of them that must be swapped. */
const TELLING_MIN = 5;
const SWAPPED_SHARE = 2 / 3;
/** How much more frequent one order must be than the other for a row to tell it. */
const TELLING_RATIO = 4;

/** Returns true when most rows of the sample that show the order have the family name in place of the given name. */
export async function areNamesSwapped(sql: Sql, sample: readonly NameCells[]): Promise<boolean> {
  const rows = sample.flatMap(({ first, last }) => {
    const [[given, ...otherGiven], [family, ...otherFamily]] = [
      splitWords(first),
      splitWords(last),
    ];
    const isPlain = otherGiven.length === 0 && otherFamily.length === 0;
    return given === undefined || family === undefined || !isPlain ? [] : [{ given, family }];
  });
  if (rows.length < TELLING_MIN) return false;
  const keys = new Set(
    rows.flatMap((row) =>
      [row.given, row.family].flatMap((word) => [givenKey(word), familyKey(word)]),
    ),
  );
  const counts = new Map(
    (await selectNameCounts(sql, [...keys])).map((one) => [one.key, discloseCount(one.records)]),
  );
  // The result is free. A name that few have, or none, counts like one of one person.
  const peopleOf = (given: string, family: string) =>
    (counts.get(givenKey(given)) || 1) * (counts.get(familyKey(family)) || 1);
  let straight = 0;
  let swapped = 0;
  for (const { given, family } of rows) {
    const ratio = peopleOf(family, given) / peopleOf(given, family);
    if (ratio >= TELLING_RATIO) swapped++;
    else if (ratio <= 1 / TELLING_RATIO) straight++;
  }
  const telling = straight + swapped;
  return telling >= TELLING_MIN && swapped >= telling * SWAPPED_SHARE;
}
