/** Notes on how the names of a list agree with its matches. */
import { countOf, formatShare } from '../format.ts';

/**
 * Returns sentences about the matches whose name could be compared; a row or a record without a name cannot be. With
 * `isStrict` rows whose name is another one are misses, and only counted where they are some of many.
 */
export function sayAgreement(
  agrees: Readonly<Record<string, number>>,
  isStrict: boolean,
): string[] {
  const { yes = 0, no, unknown = 0 } = agrees;
  const apart =
    unknown > 0 && yes + (no ?? 0) > 0
      ? [`${countOf(unknown, 'match', 'matches')} can’t be compared.`]
      : [];
  if (isStrict) return [...apart, saySkipped(no)];
  const compared = yes + (no ?? 0);
  if (compared === 0) return [];
  const share = `Names agree in ${formatShare(yes, compared)} of the ${countOf(compared, 'match', 'matches')} with a name to compare.`;
  return no === undefined || no === 0
    ? [`${share} No conflicts found.`, ...apart]
    : [share, `Names differ in ${countOf(no, 'row')}.`, ...apart];
}

function saySkipped(no: number | undefined): string {
  return no === undefined
    ? 'Matches whose name differs were skipped. Their number is not shown.'
    : `${countOf(no, 'match', 'matches')} whose name differs ${no === 1 ? 'was' : 'were'} skipped.`;
}
