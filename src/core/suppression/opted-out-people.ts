/**
 * Opt-outs as matching and stored results need them: who of some people opted out, whether there are newer ones,
 * whom they concern, and which directors a list may not name.
 */
import type { Sql } from '../db/client.ts';
import {
  findHiddenDirectors,
  findSuppressed,
  listSuppressedOfficers,
  listSuppressedPeople,
  readLastSuppression,
  type Suppression,
} from './suppression.sql.ts';

export type { Suppression } from './suppression.sql.ts';

/** Returns those of these people who opted out of the graph that `sql` sees. */
export function optedOutAmong(sql: Sql, personIds: readonly number[]): Promise<number[]> {
  return findSuppressed(sql, personIds);
}

/** Returns the number of the last suppression in the graph that `sql` sees; 0 before the first. */
export function lastSuppression(sql: Sql): Promise<number> {
  return readLastSuppression(sql);
}

/**
 * Returns the ids that results about people, or about companies, may no longer show since the number: ids of
 * people; or ids of companies with a suppressed officer, and as negative numbers ids of people, who may be
 * directors.
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

/** Returns the directors of companies as JSON texts; those who opted out have no name and no link. */
export async function redactDirectors(
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
