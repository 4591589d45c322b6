/**
 * What stored results need to know of opt-outs: whether there are later ones, whom they are about, and
 * whom a list of directors may not name.
 */
import type { Sql } from '../db/client.ts';
import {
  findHiddenDirectors,
  listSuppressedOfficers,
  listSuppressedPeople,
  readLastSuppression,
  type Suppression,
} from './suppression.sql.ts';

export type { Suppression } from './suppression.sql.ts';

/** The number of the last suppression in the graph that `sql` sees; 0 before the first. */
export function lastSuppression(sql: Sql): Promise<number> {
  return readLastSuppression(sql);
}

/**
 * Whom results about people, or about companies, may not show since the number: ids of people; or ids of
 * companies with a suppressed officer, and with a minus ids of people, who may be directors.
 */
export function suppressedSince(
  sql: Sql,
  subject: 'person' | 'company',
  after: number,
): Promise<Suppression[]> {
  return subject === 'person'
    ? listSuppressedPeople(sql, after)
    : listSuppressedOfficers(sql, after);
}

interface Director {
  name: string | null;
  person_id: number | null;
  matched_by: string | null;
}

/** The directors of companies as JSON texts, those who opted out without name and link. */
export async function hideDirectors(
  sql: Sql,
  companies: readonly { companyId: number; directors: string }[],
): Promise<string[]> {
  const lists = companies.map(({ directors }) => JSON.parse(directors) as Director[]);
  const shown = lists.flatMap((list, index) =>
    list.map((director) => ({ companyId: companies[index]?.companyId ?? 0, director })),
  );
  const hidden = await findHiddenDirectors(
    sql,
    shown.map(({ companyId, director: { name, person_id: personId } }) => {
      return { companyId, name: name ?? '', personId };
    }),
  );
  for (const [index, { director }] of shown.entries()) {
    if (!hidden[index]) continue;
    Object.assign(director, { name: null, person_id: null, matched_by: null });
  }
  return lists.map((list) => JSON.stringify(list));
}
