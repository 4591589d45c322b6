import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { personIdentifierCodes } from '../../src/core/graph/identifier-kinds.ts';
import { countryCode } from '../../src/core/identifiers/country.ts';
import { normaliseIdentifier } from '../../src/core/identifiers/identifier.ts';
import { must } from '../../src/core/lib/assert.ts';
import { createTestDatabase, type TestDatabase } from '../../tests/support/database.ts';
import { generateGraph } from './generate-graph.ts';
import { type GenerateLeadsOptions, generateLeads } from './generate-leads.ts';

const rows = 3_000;
const codes = personIdentifierCodes;

type Row = Record<string, string>;

describe('generateLeads', () => {
  let database: TestDatabase;
  let leadsText: string;
  let truthText: string;
  let leads: Row[];
  let truth: Row[];
  /** Owners of each value, by the kind that a list names. */
  let owners: Map<string, Set<string>>;

  beforeAll(async () => {
    database = await createTestDatabase();
    await generateGraph(database.sql, { persons: 3_000, companies: 300, seed: 5 });
    [leadsText, truthText] = await filesOf({ rows, seed: 9 });
    // As strict as a reader with its own rules for newlines: any unquoted CR or LF ends a record.
    const record_delimiter = ['\r\n', '\n', '\r'];
    const strict = { bom: true, columns: true, skip_empty_lines: true, record_delimiter };
    leads = parse(leadsText, strict) as unknown as Row[];
    truth = parse(truthText, { columns: true });
    owners = await readOwners();
  }, 60_000);
  afterAll(() => database.drop());

  async function filesOf(options: GenerateLeadsOptions): Promise<[string, string]> {
    let leads = '';
    let truth = '';
    for await (const piece of generateLeads(database.sql, options)) {
      leads += piece.leads;
      truth += piece.truth;
    }
    return [leads, truth];
  }

  async function readOwners(): Promise<Map<string, Set<string>>> {
    const stored = await database.sql<{ kind: number; value: string; personId: number }[]>`
      select kind, value, person_id from person_identifiers`;
    const found = new Map<string, Set<string>>();
    for (const { kind, value, personId } of stored) {
      const key = `${listedKind(kind)} ${value}`;
      found.set(key, (found.get(key) ?? new Set()).add(String(personId)));
    }
    return found;
  }

  const ownersOf = (row: Row) => owners.get(`${row.identifier} ${row.normalised}`) ?? new Set();

  it('parses to the stated number of rows, with BOM, CRLF and empty lines', () => {
    expect(leads).toHaveLength(rows);
    expect(truth.map((row) => Number(row.row))).toEqual(leads.map((_, index) => index + 1));
    expect(leadsText.startsWith('\ufeffName,')).toBe(true);
    expect(leadsText).toContain('\r\n\r\n');
    expect(leadsText.endsWith('\r\n')).toBe(true);
  });

  it('expects a person only when that person alone holds the deciding identifier', () => {
    const expecting = truth.filter((row) => row.expected_person_id !== '');
    expect(expecting.length).toBeGreaterThan(rows / 2);
    for (const row of expecting) expect(ownersOf(row)).toEqual(new Set([row.expected_person_id]));
  });

  it('misses only identifiers that no person holds', () => {
    const misses = truth.filter((row) => row.kind?.startsWith('miss'));
    expect(misses.length).toBeGreaterThan(rows / 10);
    for (const row of misses) expect(ownersOf(row)).toEqual(new Set());
  });

  it('marks identifiers of two or more holders as ambiguous, and names them all', () => {
    const ambiguous = truth.filter((row) => row.kind === 'ambiguous');
    expect(ambiguous.length).toBeGreaterThan(rows / 200);
    for (const row of ambiguous) {
      const candidates = new Set(row.candidates?.split('|'));
      expect(candidates.size).toBeGreaterThanOrEqual(2);
      expect(candidates).toEqual(ownersOf(row));
    }
  });

  it('contains every kind of problem', () => {
    expect(new Set(truth.map((row) => row.kind))).toEqual(
      new Set([
        'match',
        'match_duplicate',
        'match_dirty_email',
        'match_second_identifier',
        'stale_handle',
        'miss',
        'miss_role_mailbox',
        'ambiguous',
        'no_identifier',
        'unparsed_email',
      ]),
    );
  });

  it('writes cells that the normaliser reads as the deciding identifier', () => {
    for (const [index, row] of truth.entries()) {
      const lead = must(leads[index], `row ${row.row}`);
      const values = valuesOf(lead, row.identifier ?? '');
      if (row.normalised === '') expect(values).toEqual([]);
      else expect(values).toContain(row.normalised);
    }
  });

  it('produces the same text for the same seed, and a different one for another', async () => {
    expect(await filesOf({ rows, seed: 9 })).toEqual([leadsText, truthText]);
    expect((await filesOf({ rows, seed: 10 }))[0]).not.toBe(leadsText);
  });

  it('plain lists have 71 % stored people and 70 % emails', async () => {
    const [text, plainTruth] = await filesOf({ rows, seed: 9, style: 'plain' });
    const plain: Row[] = parse(plainTruth, { columns: true });
    expect(parse(text, { bom: true, columns: true })).toHaveLength(rows);
    const share = (test: (row: Row) => boolean) => plain.filter(test).length / rows;
    expect(share((row) => row.expected_person_id !== '' || row.kind === 'ambiguous')).toBeCloseTo(
      0.71,
      1,
    );
    expect(share((row) => row.identifier === 'email')).toBeCloseTo(0.7, 1);
  });

  it('refuses an invalid size, and a graph without people', async () => {
    await expect(filesOf({ rows: -1, seed: 1 })).rejects.toMatchObject({
      code: 'invalid_parameter',
    });
    const empty = await createTestDatabase();
    try {
      const first = generateLeads(empty.sql, { rows: 1, seed: 1 }).next();
      await expect(first).rejects.toMatchObject({ code: 'graph_empty' });
    } finally {
      await empty.drop();
    }
  });
});

function listedKind(code: number): string {
  if (code === codes.professional_network) return 'professional_network';
  if (code === codes.email || code === codes.work_email) return 'email';
  return code === codes.phone ? 'phone' : 'twitter';
}

const columns = {
  professional_network: 'Profile URL',
  email: 'E-mail',
  phone: 'Phone',
  twitter: 'Twitter',
} as const;

/** The value that a reader of the list gets from the cell of a kind; '' for any of them. */
function valuesOf(lead: Row, kind: string): string[] {
  const kinds = Object.keys(columns).filter((name) => kind === '' || name === kind);
  const region = countryCode(lead.Country ?? '');
  const context = { subject: 'person', ...(region === null ? {} : { region }) } as const;
  return (kinds as (keyof typeof columns)[]).flatMap((name) => {
    const normalised = normaliseIdentifier(name, lead[columns[name]] ?? '', context);
    return 'values' in normalised ? normalised.values : [];
  });
}
