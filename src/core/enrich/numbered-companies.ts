/**
 * In some countries companies of several courts or states have one number in their registers. Here those are left out that hold a
 * row's number and have another name.
 */
import { isOfManyRegisters } from '../identifiers/registry-number.ts';
import { isOtherCompany } from './agreement.ts';
import type { CompanyReader } from './company-reader.ts';
import type { Hits, RowInput } from './outcomes.ts';

/**
 * Returns, by the index of a row with a name and such a number, the companies to leave out when the number is looked up.
 * @param firstLines the look-up line of the first value of each row
 */
export async function companiesNotNumbered(
  companies: CompanyReader,
  rows: readonly RowInput[],
  firstLines: Int32Array,
  hits: Hits,
): Promise<ReadonlyMap<number, ReadonlySet<number>>> {
  const held = new Map<number, Set<number>>();
  for (const [index, row] of rows.entries()) {
    if (row.companyName === undefined) continue;
    const ids = holdersOfNumber(row, firstLines[index] ?? 0, hits);
    if (ids.size > 0) held.set(index, ids);
  }
  if (held.size === 0) return held;
  const ids = [...new Set([...held.values()].flatMap((found) => [...found]))];
  const records = await companies.read(ids, { keep: (texts) => texts });
  const known = new Map(ids.map((id, place) => [id, records[place]]));
  for (const [index, found] of held) {
    const name = rows[index]?.companyName ?? '';
    for (const id of found) {
      const record = known.get(id);
      if (record !== undefined && !isOtherCompany(name, record)) found.delete(id);
    }
  }
  return held;
}

function holdersOfNumber({ identifiers }: RowInput, firstLine: number, hits: Hits): Set<number> {
  const ids = new Set<number>();
  let line = firstLine;
  for (const { kind, values } of identifiers) {
    for (const [place, value] of values.entries()) {
      if (kind !== 'registry_number' || !isOfManyRegisters(value)) continue;
      hits.forEach(line + place, (_, id) => {
        ids.add(id);
      });
    }
    line += values.length;
  }
  return ids;
}
