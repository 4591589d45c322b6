/** The lookup of companies that employ people. */
import type { Sql } from '../db/client.ts';
import { companyIdentifierCodes } from '../graph/identifier-kinds.ts';

const { domain, alias_domain, name, alias_name } = companyIdentifierCodes;

/** A company as a lookup shows it. */
export interface CompanyValue {
  id: number;
  name: string;
  /** Number of people who work there. */
  count: number;
}

/** Maximum companies that are counted for one text. */
const COUNTED_MAX = 300;

/**
 * Returns at most `limit` companies, the largest first: those that have one of the whole names or domains, and those of
 * at least `peopleMin` people whose folded name begins with `prefix` (null for none).
 */
export async function selectCompanies(
  sql: Sql,
  asked: { whole: readonly string[]; prefix: string | null; peopleMin: number; limit: number },
): Promise<CompanyValue[]> {
  return sql<CompanyValue[]>`
    with whole as (
      select distinct company_id from company_identifiers
      where value = any(${[...asked.whole]}::text[]) and kind in (${domain}, ${alias_domain}, ${name}, ${alias_name})
      limit ${COUNTED_MAX}),
    begun as (
      select distinct company_id from company_identifiers
      where value ^@ ${asked.prefix}::text and kind in (${name}, ${alias_name}) limit ${COUNTED_MAX}),
    counted as (
      select c.id, c.name, exists (select from whole where company_id = c.id) as is_whole, (
        select count(*) from person_search s where s.company_id = c.id) as count
      from companies c
      where c.name <> '' and c.id in (select company_id from whole union select company_id from begun))
    select id, name, count from counted where is_whole or count >= ${asked.peopleMin}
    order by is_whole desc, count desc, id limit ${asked.limit}`;
}

/** Returns the names of these companies, with the number of their people. */
export async function selectCompaniesById(
  sql: Sql,
  ids: readonly number[],
): Promise<CompanyValue[]> {
  return sql<CompanyValue[]>`
    select c.id, c.name, (select count(*) from person_search s where s.company_id = c.id) as count
    from companies c where c.id = any(${[...ids]}::bigint[]) and c.name <> '' order by c.id`;
}
