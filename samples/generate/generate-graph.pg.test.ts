import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/core/db/client.ts';
import {
  companyIdentifierCodes,
  personIdentifierCodes,
} from '../../src/core/graph/identifier-kinds.ts';
import { type IdentifierKind, normaliseIdentifier } from '../../src/core/identifiers/identifier.ts';
import { createTestDatabase, type TestDatabase } from '../../tests/support/database.ts';
import { generateGraph } from './generate-graph.ts';

const tables = [
  'countries',
  'regions',
  'cities',
  'industries',
  'positions',
  'companies',
  'persons',
  'person_identifiers',
  'company_identifiers',
  'person_records',
  'company_records',
  'officers',
  'financial_periods',
];

const size = { persons: 2_000, companies: 400 };

describe('generateGraph', () => {
  let first: TestDatabase;
  let indexesBefore: string[];
  let checksums: Map<string, string>;

  beforeAll(async () => {
    first = await createTestDatabase();
    indexesBefore = await indexesOf(first.sql);
    await generateGraph(first.sql, { ...size, seed: 1 });
    checksums = await checksumsOf(first.sql);
  }, 60_000);
  afterAll(() => first.drop());

  it('generates the same rows of every table from the same seed, in another database', async () => {
    const second = await createTestDatabase();
    try {
      await generateGraph(second.sql, { ...size, seed: 1 });
      expect(await checksumsOf(second.sql)).toEqual(checksums);
    } finally {
      await second.drop();
    }
  });

  it('generates other people and companies from another seed', async () => {
    const other = await createTestDatabase();
    try {
      await generateGraph(other.sql, { ...size, seed: 2 });
      const others = await checksumsOf(other.sql);
      const drawn = [
        'companies',
        'persons',
        'person_identifiers',
        'company_identifiers',
        'officers',
      ];
      for (const table of drawn) expect(others.get(table)).not.toBe(checksums.get(table));
    } finally {
      await other.drop();
    }
  });

  it('generates the requested numbers, with a stored record each', async () => {
    const [row] = await first.sql<{ persons: number; companies: number; records: number }[]>`
      select (select count(*) from persons) as persons,
        (select count(*) from companies) as companies,
        (select count(*) from person_records) + (select count(*) from company_records) as records`;
    expect(row).toEqual({ ...size, records: size.persons + size.companies });
  });

  it('restores every index', async () => {
    expect(await indexesOf(first.sql)).toEqual(indexesBefore);
  });

  it('refuses a graph with rows, and invalid sizes', async () => {
    await expect(generateGraph(first.sql, { ...size, seed: 1 })).rejects.toMatchObject({
      code: 'graph_not_empty',
    });
    for (const wrong of [{ persons: -1 }, { companies: 0 }, { seed: 1.5 }]) {
      const options = { ...size, seed: 1, ...wrong };
      await expect(generateGraph(first.sql, options)).rejects.toMatchObject({
        code: 'invalid_parameter',
      });
    }
  });

  it('stores the identifiers of people that the normaliser reads in their records', async () => {
    expect(await storedPersonIdentifiers(first.sql)).toEqual(await expectedOfPeople(first.sql));
  });

  it('stores the identifiers of companies that the normaliser reads in their records', async () => {
    const stored = await first.sql<{ row: string }[]>`
      select kind || ' ' || value || ' ' || company_id as row from company_identifiers`;
    expect(stored.map(({ row }) => row).sort()).toEqual(await expectedOfCompanies(first.sql));
  });

  it('shares some switchboards and mailboxes between people', async () => {
    const shared = await first.sql<{ kind: number }[]>`
      select distinct kind from (
        select kind from person_identifiers group by kind, value having count(*) > 1) doubles`;
    expect(shared.map(({ kind }) => kind)).toContain(personIdentifierCodes.phone);
  });

  it('links some directors to people, and knows others by name and birth only', async () => {
    const [row] = await first.sql<{ linked: number; named: number; unknown: number }[]>`
      select count(*) filter (where o.person_id is not null) as linked,
        count(*) filter (where o.person_id is null and p.id is not null) as named,
        count(*) filter (where o.person_id is null and p.id is null) as unknown
      from officers o
      left join persons p on p.company_id = o.company_id and p.birth_year = o.birth_year
        and fold(p.name || ' ' || p.surname) = fold(o.name)`;
    expect(row?.linked).toBeGreaterThan(20);
    expect(row?.named).toBeGreaterThan(5);
    expect(row?.unknown).toBeGreaterThan(20);
  });
});

async function checksumsOf(sql: Database): Promise<Map<string, string>> {
  const sums = new Map<string, string>();
  for (const table of tables) {
    const [row] = await sql<{ sum: string }[]>`
      select md5(coalesce(string_agg(t::text, chr(10) order by t::text collate "C"), '')) as sum
      from ${sql(table)} t`;
    sums.set(table, row?.sum ?? '');
  }
  return sums;
}

async function indexesOf(sql: Database): Promise<string[]> {
  const rows = await sql<{ indexdef: string }[]>`
    select indexdef from pg_indexes where schemaname = current_schema() order by indexdef`;
  return rows.map((row) => row.indexdef);
}

async function storedPersonIdentifiers(sql: Database): Promise<string[]> {
  const stored = await sql<{ row: string }[]>`
    select kind || ' ' || value || ' ' || person_id as row from person_identifiers
    where kind <> ${personIdentifierCodes.former_handle}`;
  return stored.map(({ row }) => row).sort();
}

async function expectedOfPeople(sql: Database): Promise<string[]> {
  const code = personIdentifierCodes;
  const people = await sql<
    {
      id: number;
      email: string;
      workEmail: string;
      professionalNetwork: string;
      twitter: string | null;
      phone: string;
      mobile: string | null;
    }[]
  >`select id, email, work_email, professional_network, twitter, phone, mobile from persons`;
  const rows = people.flatMap((person) => [
    identifierRow(
      code.professional_network,
      'professional_network',
      person.professionalNetwork,
      person.id,
    ),
    identifierRow(code.email, 'email', person.email, person.id),
    identifierRow(code.work_email, 'email', person.workEmail, person.id),
    identifierRow(code.phone, 'phone', person.phone, person.id),
    identifierRow(code.phone, 'phone', person.mobile, person.id),
    identifierRow(code.twitter, 'twitter', person.twitter, person.id),
  ]);
  return [...new Set(rows.flat())].sort();
}

async function expectedOfCompanies(sql: Database): Promise<string[]> {
  const code = companyIdentifierCodes;
  const companies = await sql<
    {
      id: number;
      name: string;
      domain: string | null;
      domains: string[];
      professionalNetwork: string | null;
      registryNumber: string | null;
      registryCountry: string | null;
      phone: string | null;
      aliases: string[];
      formerNames: string[];
    }[]
  >`select id, name, domain, domains, professional_network, registry_number, registry_country,
    phone,
      aliases, former_names from companies`;
  const rows = companies.flatMap((company) => {
    const { id, domain, domains, registryCountry } = company;
    const others = domains.filter((other) => other !== domain);
    return [
      identifierRow(
        code.registry_number,
        'registry_number',
        company.registryNumber,
        id,
        registryCountry,
      ),
      identifierRow(code.domain, 'domain', domain, id),
      ...others.map((other) => identifierRow(code.alias_domain, 'domain', other, id)),
      identifierRow(
        code.professional_network,
        'professional_network',
        company.professionalNetwork,
        id,
      ),
      identifierRow(code.phone, 'phone', company.phone, id),
      identifierRow(code.name, 'name', company.name, id),
      ...company.aliases.map((name) => identifierRow(code.alias_name, 'name', name, id)),
      ...company.formerNames.map((name) => identifierRow(code.former_name, 'name', name, id)),
    ];
  });
  return [...new Set(rows.flat())].sort();
}

/** No row for an absent field; a field that the normaliser refuses shows up as a difference. */
function identifierRow(
  code: number,
  kind: IdentifierKind,
  text: string | null,
  id: number,
  country?: string | null,
): string[] {
  if (text === null || text === '') return [];
  // Bare handles read the same for people and companies.
  const context = { subject: 'person', ...(country ? { registryCountry: country } : {}) } as const;
  const normalised = normaliseIdentifier(kind, text, context);
  const value = 'values' in normalised ? normalised.values[0] : `refused: ${normalised.reason}`;
  return [`${code} ${value} ${id}`];
}
