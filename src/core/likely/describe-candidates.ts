/**
 * Describes the candidates of ambiguous rows, so that a caller can choose one before any payment: what of the row agrees
 * with each, and values that describe groups of people (see `search/free-responses.ts`).
 */
import type { Sql } from '../db/client.ts';
import { explainCompany, explainPerson } from '../match/evidence.ts';
import { FEW } from '../search/free-responses.ts';
import { selectCompanyTraits, selectPersonTraits } from './likely.sql.ts';
import { compareCompanies, comparePeople } from './likely-candidates.ts';
import { readCompanyRow, readPersonRow } from './likely-cards.ts';
import type { LikelyCells } from './likely-row.ts';
import { readGraphNames } from './name-frequencies.ts';

/** Values of a record that describe a group, by the name of their field; null where there is none. */
export type Traits = Readonly<Record<string, string | null>>;

/** A candidate as described before payment. */
export interface CandidateDescription {
  /** The agreement with the row in words. */
  evidence: string;
  traits: Traits;
}

/** A row with the ids of its candidates. */
export interface RowWithCandidates {
  cells: LikelyCells;
  ids: readonly number[];
}

/**
 * Returns the descriptions of each row's candidates by id, in the order of the rows. Those that are no longer stored, or
 * have opted out, are missing.
 */
export async function describeCandidates(
  sql: Sql,
  subject: 'person' | 'company',
  rows: readonly RowWithCandidates[],
): Promise<Map<number, CandidateDescription>[]> {
  const described =
    subject === 'person' ? await explainPeople(sql, rows) : await explainCompanies(sql, rows);
  const ids = [...new Set(described.flatMap((row) => row.map(({ id }) => id)))];
  const select = subject === 'person' ? selectPersonTraits : selectCompanyTraits;
  const traitsOf = new Map((await select(sql, ids, FEW)).map(({ id, ...traits }) => [id, traits]));
  return described.map(
    (row) =>
      new Map(row.map(({ id, evidence }) => [id, { evidence, traits: traitsOf.get(id) ?? {} }])),
  );
}

type Explained = { id: number; evidence: string }[];

async function explainPeople(sql: Sql, rows: readonly RowWithCandidates[]): Promise<Explained[]> {
  const names = await readGraphNames(sql);
  return explain(rows, readPersonRow, async (usable) => {
    const compared = await comparePeople(sql, names, usable);
    return compared.map((row) =>
      row.map(({ id, compared: one }) => ({ id, evidence: explainPerson(one, names) })),
    );
  });
}

async function explainCompanies(
  sql: Sql,
  rows: readonly RowWithCandidates[],
): Promise<Explained[]> {
  const names = await readGraphNames(sql);
  return explain(rows, readCompanyRow, async (usable) => {
    const compared = await compareCompanies(sql, names, usable);
    return compared.map((row) =>
      row.map(({ id, compared: one }) => ({ id, evidence: explainCompany(one) })),
    );
  });
}

/** Explains the rows that `read` can read; the others, of which it says why not, have no candidates. */
async function explain<Row>(
  rows: readonly RowWithCandidates[],
  read: (cells: LikelyCells) => Row | string,
  compare: (rows: { row: Row; ids: ReadonlySet<number> }[]) => Promise<Explained[]>,
): Promise<Explained[]> {
  const readable = rows.map(({ cells, ids }) => ({ row: read(cells), ids: new Set(ids) }));
  const usable = readable.flatMap(({ row, ids }) =>
    typeof row === 'string' ? [] : [{ row, ids }],
  );
  const explained = (await compare(usable)).values();
  return readable.map(({ row }) => (typeof row === 'string' ? [] : (explained.next().value ?? [])));
}
