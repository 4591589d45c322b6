/** The merge of staged officers and financial periods: facts that belong to a company. */
import type { Sql } from '../../db/client.ts';
import { must } from '../../lib/assert.ts';
import { runConstant } from '../graph.sql.ts';
import { companyIdentifierCodes } from '../identifier-kinds.ts';

/** A table whose rows have a natural key instead of an id of the source. */
export interface FactTable {
  table: 'officers' | 'financial_periods';
  key: readonly string[];
  /** The key as it is stored, in columns of `stage_facts`. */
  storedKey: readonly string[];
  values: readonly string[];
}

/**
 * An expression: the name under which an officer of one of these companies, an array, is stored. Two names that are hidden may be
 * stored as one.
 */
export function storedName(companies: string): string {
  return `case when company_id in (select companies_hiding_officers(${companies}))
    then stored_officer_name(company_id, name) else name end`;
}

export const officerTable: FactTable = {
  table: 'officers',
  key: ['company_id', 'name', 'role', 'appointed_on'],
  storedKey: [
    'company_id',
    storedName('array(select distinct company_id from stage_facts)'),
    'role',
    'appointed_on',
  ],
  values: ['resigned_on', 'birth_year', 'birth_month', 'person_id'],
};

export const financialTable: FactTable = {
  table: 'financial_periods',
  key: ['company_id', 'period_end'],
  storedKey: ['company_id', 'period_end'],
  values: [
    'currency',
    'revenue',
    'gross_profit',
    'operating_profit',
    'profit',
    'total_assets',
    'net_assets',
    'cash',
    'employees',
  ],
};

/** Columns of `stage_facts` in the order of its COPY lines. */
export function factColumns({ key, values }: FactTable): string[] {
  return ['ordinal', 'registry_number', ...key, ...values];
}

export async function createFactStage(tx: Sql, facts: FactTable): Promise<void> {
  await runConstant(
    tx,
    `create temp table stage_facts on commit drop as
     select 0::int as ordinal, ''::text collate "C" as registry_number,
       ${[...facts.key, ...facts.values].join(', ')}
     from ${facts.table} with no data`,
  );
}

/**
 * Finds the companies of rows that name them by registry number. Removes rows that match no company or more than
 * one, and returns their ordinals with the number of companies.
 */
export async function resolveCompanies(
  tx: Sql,
): Promise<readonly { ordinal: number; companies: number }[]> {
  return runConstant<{ ordinal: number; companies: number }>(
    tx,
    `with found as (
       select s.ordinal, count(i.company_id)::int as companies, min(i.company_id) as company_id
       from stage_facts s
       left join company_identifiers i on i.value = s.registry_number
         and i.kind = ${companyIdentifierCodes.registry_number}
       where s.company_id is null
       group by s.ordinal
     ), resolved as (
       update stage_facts s set company_id = f.company_id
       from found f where f.ordinal = s.ordinal and f.companies = 1
     ), unresolved as (
       delete from stage_facts s using found f
       where f.ordinal = s.ordinal and f.companies <> 1
     )
     select ordinal, companies from found where companies <> 1 order by ordinal`,
  );
}

/**
 * Inserts and updates the staged rows; of rows with the same key the last one counts. Officers of
 * one company may share a name and a role, so the day of appointment belongs to the key, null
 * included. A row that a source has too is one's own from here on: it stays when the source has it no more.
 */
export async function mergeFacts(
  tx: Sql,
  facts: FactTable,
): Promise<{ inserted: number; updated: number }> {
  const { table, key, storedKey, values } = facts;
  const columns = [...key, ...values];
  const isSame = key
    .map((name) =>
      name === 'appointed_on'
        ? `t.${name} is not distinct from g.${name}`
        : `t.${name} = g.${name}`,
    )
    .join(' and ');
  const [counts] = await runConstant<{ inserted: number; updated: number }>(
    tx,
    `with given as (
       select distinct on (${storedKey.join(', ')}) ${columns.join(', ')}
       from stage_facts order by ${storedKey.join(', ')}, ordinal desc
     ), changed as (
       select g.*, t.company_id is null as is_new
       from given g left join ${table} t on ${isSame}
       where t.company_id is null or t.is_sourced
         or (${values.map((name) => `t.${name}`).join(', ')})
           is distinct from (${values.map((name) => `g.${name}`).join(', ')})
     ), written as (
       insert into ${table} (${columns.join(', ')})
       select ${columns.join(', ')} from changed
       on conflict (${key.join(', ')}) do update
         set is_sourced = false, ${values.map((name) => `${name} = excluded.${name}`).join(', ')}
     )
     select count(*) filter (where is_new) as inserted,
       count(*) filter (where not is_new) as updated
     from changed`,
  );
  return must(counts, 'counts');
}
