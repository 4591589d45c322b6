/** The doubt that the columns of given and family names are swapped. */

import { graphOf } from '../../core/graph/graph-of.ts';
import { areNamesSwapped } from '../../core/likely/name-order.ts';
import type { ColumnMapping } from '../../mapping/columns.ts';
import type { StoredDialect } from '../batch/batch.ts';
import type { UploadContext } from './store-upload.ts';

type Doubts = StoredDialect['doubts'];

/** A list whose first rows tell whether its names are swapped. */
interface DoubtedList {
  live: boolean;
  mapping: ColumnMapping;
  sample: readonly (readonly string[])[];
  doubts: Doubts;
}

/**
 * Returns the doubts of a list, with `names` when most of the sampled rows have the family name in the column that is mapped to
 * the given name.
 */
export async function withNameDoubt(
  context: Pick<UploadContext, 'sql' | 'testSql'>,
  { live, mapping, sample, doubts }: DoubtedList,
): Promise<Doubts> {
  const others = doubts.filter((doubt) => doubt !== 'names');
  const [first, last, ...more] = mapping.person_name ?? [];
  if (first === undefined || last === undefined || more.length > 0) return others;
  const names = sample.map((cells) => ({
    first: cells[first.column - 1] ?? '',
    last: cells[last.column - 1] ?? '',
  }));
  return (await areNamesSwapped(graphOf(context, live), names)) ? [...others, 'names'] : others;
}
