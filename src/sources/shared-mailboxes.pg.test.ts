/** Records of several sources that share an address, a phone or a number and are not one person or company all the same. */
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { filesOf, noRejects, sourceInput } from '../../tests/support/source-input.ts';
import type { JsonRecord } from '../core/graph/import/read-records.ts';
import { importSource } from '../core/graph/sources/import-source.ts';
import type { SourceRecord } from '../core/graph/sources/source-record.ts';
import { splitRecords, undoSplit } from '../core/graph/sources/split.ts';
import { undoImport } from '../core/graph/sources/undo-import.ts';
import { must } from '../core/lib/assert.ts';

const family = 'mueller@home.example';

let pipeline: Pipeline;
let by: Caller;
beforeEach(async () => {
  pipeline = await openPipeline();
  by = await pipeline.account(1000);
});
afterEach(() => pipeline.close());

async function load(
  source: string,
  record: JsonRecord,
  entity: SourceRecord['entity'] = 'person',
  company: readonly string[] = [],
): Promise<number> {
  const key = String(record.name ?? 'nameless');
  const sha256 = () => Buffer.from(`${source} ${JSON.stringify(record)}`);
  const input = sourceInput({ source, rows: filesOf([{ entity, key, record, company }]), sha256 });
  const report = await importSource(pipeline.sql, input, { rejects: noRejects() });
  return must(report.import_id, 'import');
}

/** The people or companies, each as the names of its records. */
async function groups(): Promise<string[]> {
  const rows = await pipeline.sql<{ names: string }[]>`
    select string_agg(coalesce(record::json ->> 'name', '-'), ' ' order by source) as names
    from source_records where record is not null group by entity, id order by 1`;
  return rows.map(({ names }) => names);
}

describe('one mailbox of a family', () => {
  const anna = { name: 'Anna', surname: 'Müller', email: family, phone: '+442079460001' };
  const peter = { name: 'Peter', surname: 'Müller', email: family, phone: '+442079460002' };

  it('does not make husband and wife one person, and leads to neither, for free', async () => {
    await load('hubspot', anna);
    await load('salesforce', peter);
    expect(await groups()).toEqual(['Anna', 'Peter']);
    const response = await pipeline.call(by, `/v1/people/enrich?email=${family}`);
    expect(response.status).toBe(409);
    expect(response.headers.get('x-credits-charged')).toBe('0');
    const found = await pipeline.call(by, '/v1/people/enrich?phone=%2B442079460002');
    expect(JSON.stringify(await found.json())).toContain('Peter');
  });

  it('nor by the record of a nameless subscriber who has an address of each', async () => {
    const [mine, his] = ['anna@acme.example', 'peter@acme.example'];
    await load('hubspot', { ...anna, email: mine });
    await load('salesforce', { ...peter, email: his });
    await load('pipedrive', { email: mine, otherEmails: [his] });
    expect(await groups()).toEqual(['-', 'Anna', 'Peter']);
  });

  it('nor father and son of one name whose days of birth differ', async () => {
    const john = { name: 'John', surname: 'Smith', email: family };
    await load('hubspot', { ...john, birthDate: '1950-02-03' });
    await load('salesforce', { ...john, birthDate: '1975-02-03' });
    expect(await groups()).toEqual(['John', 'John']);
  });

  it('separates whom an earlier import had joined with the nameless owner', async () => {
    const bare = { email: family, phone: '+442079460003' };
    await load('pipedrive', bare);
    await load('hubspot', anna);
    expect(await groups()).toEqual(['Anna -']);
    const later = await load('salesforce', peter);
    expect(await groups()).toEqual(['-', 'Anna', 'Peter']);
    await undoImport(pipeline.sql, later);
    expect(await groups()).toEqual(['Anna -']);
  });

  it('stays apart when a split of one of them is made and undone', async () => {
    await load('hubspot', anna);
    await load('outlook', { ...anna, name: 'A.' });
    await load('salesforce', peter);
    expect(await groups()).toEqual(['A.', 'Anna', 'Peter']);
    await load('salesforce', { ...peter, email: 'peter@home.example' });
    expect(await groups()).toEqual(['Anna A.', 'Peter']);
    const [stored] = await pipeline.sql<{ id: number; number: number }[]>`
      select id, number from source_records where source = 'outlook'`;
    const { id, number } = must(stored, 'record');
    const made = await splitRecords(pipeline.sql, 'person', id, [number]);
    expect(await groups()).toEqual(['A.', 'Anna', 'Peter']);
    await undoSplit(pipeline.sql, made.split);
    expect(await groups()).toEqual(['Anna A.', 'Peter']);
  });
});

test.each([
  'vertrieb@acme.example',
  'ventas@acme.example',
  'comptabilite@acme.example',
  'sales-uk@acme.example',
  'info.de@acme.example',
  'uk-sales@acme.example',
  '1-info@acme.example',
  'sales2@acme.example',
  'info+web@acme.example',
  'none@none.example',
])('the mailbox %s of a function joins no two records', async (email) => {
  await load('hubspot', { name: 'Anna', surname: 'Müller', email });
  await load('salesforce', { email, phone: '+442079460002' });
  expect(await groups()).toEqual(['-', 'Anna']);
});

test('a phone that two records of one name share joins them not', async () => {
  const anna = { name: 'Anna', surname: 'Müller', phone: '+442079460001' };
  await load('hubspot', anna);
  await load('salesforce', anna);
  expect(await groups()).toEqual(['Anna', 'Anna']);
});

test.each([
  'http://uk.linkedin.com/in/ANNA-Mueller/?trk=x',
  'linkedin.com/mwlite/in/anna-mueller',
  'https://www.linkedin.com/in/anna%2Dmueller/de',
])('the profile %s is another spelling of one', async (profile) => {
  const anna = { name: 'Anna', surname: 'Müller' };
  const url = 'https://www.linkedin.com/in/anna-mueller';
  await load('hubspot', { ...anna, professional_network: url });
  await load('salesforce', { ...anna, professional_network: profile });
  expect(await groups()).toEqual(['Anna Anna']);
});

test.each(['me', 'unavailable', 'none'])('the profile /in/%s is no person’s', async (profile) => {
  const url = `https://www.linkedin.com/in/${profile}`;
  await load('hubspot', { name: 'Anna', surname: 'Müller', professional_network: url });
  await load('salesforce', { name: 'Peter', surname: 'Müller', professional_network: url });
  expect(await groups()).toEqual(['Anna', 'Peter']);
});

describe('companies', () => {
  it('with one number in the registers of two courts are two, unless their names are one', async () => {
    const number = { registryNumber: 'HRB 1234', registryCountry: 'DE' };
    await load('partners', { name: 'Bergkristall GmbH', ...number }, 'company');
    await load('gleif', { name: 'Nordlicht AG', ...number }, 'company');
    expect(await groups()).toEqual(['Bergkristall GmbH', 'Nordlicht AG']);
    await load(
      'gleif',
      { name: 'Nordlicht AG', registryNumber: 'HRB 9', registryCountry: 'DE' },
      'company',
    );
    await load('more', { name: 'BERGKRISTALL', ...number }, 'company');
    expect(await groups()).toEqual(['BERGKRISTALL Bergkristall GmbH', 'Nordlicht AG']);
  });

  it('of which GLEIF has several entities with one number are one of all other sources', async () => {
    const number = { registryNumber: '01234567', registryCountry: 'GB' };
    const of = ['registry:GB-01234567'];
    const companiesOfAda = () =>
      pipeline.sql`
        select (select name from companies where id = p.company_id) as employer, (
          select string_agg(c.name, ' ') from officers o join companies c on c.id = o.company_id) as directed
        from persons p`;
    await load('gleif', { name: 'Lark Growth Fund', ...number }, 'company');
    await load('gleif', { name: 'Lark Income Fund', ...number }, 'company');
    await load('gb-psc', { name: 'Ada', surname: 'Finch' }, 'person', of);
    await load('gb-officers', { name: 'Ada Finch', role: 'director' }, 'officer', of);
    expect(await companiesOfAda()).toMatchObject([{ employer: null, directed: null }]);
    await load('gb-companies', { name: 'LARK FUNDS LIMITED', ...number }, 'company');
    await load('hubspot', { name: 'Lark Funds', ...number }, 'company');
    expect((await groups()).filter((names) => names.includes('Lark '))).toEqual([
      'LARK FUNDS LIMITED Lark Funds',
      'Lark Growth Fund',
      'Lark Income Fund',
    ]);
    const owner = 'LARK FUNDS LIMITED';
    expect(await companiesOfAda()).toMatchObject([{ employer: owner, directed: owner }]);
  });

  it('with one number in the registers of two countries are two', async () => {
    await load('a', { name: 'Acme', registryNumber: '12345678', registryCountry: 'GB' }, 'company');
    await load('b', { name: 'Acme', registryNumber: '12345678', registryCountry: 'EE' }, 'company');
    expect(await groups()).toEqual(['Acme', 'Acme']);
  });

  it('whose site in two systems is the page of a network are two', async () => {
    await load('hubspot', { name: 'Acme', domain: 'linkedin.com' }, 'company');
    await load('pipedrive', { name: 'Nordlicht', domain: 'linkedin.com' }, 'company');
    expect(await groups()).toEqual(['Acme', 'Nordlicht']);
  });
});
