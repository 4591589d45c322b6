/** `import --map` and `--dry-run` as a person runs them. */
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../tests/support/database.ts';
import { printedBy } from '../../tests/support/printed-by.ts';

let database: TestDatabase;
let folder: string;
beforeEach(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(path.join(tmpdir(), 'enrich-import-'));
  vi.stubEnv('DATABASE_URL', database.url);
  vi.stubEnv('ENRICH_DATA_DIR', folder);
});
afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

/** Runs `import ...`; returns what was printed, and what was told on the side. */
async function runInWords(...words: string[]): Promise<{ text: string; told: string }> {
  let told = '';
  vi.spyOn(process.stderr, 'write').mockImplementation((piece) => {
    told += String(piece);
    return true;
  });
  const text = await printedBy(['import', ...words]);
  return { text, told };
}

/** The same with the printed JSON. */
async function run(...words: string[]): Promise<{ printed: unknown; told: string }> {
  const { text, told } = await runInWords('--json', ...words);
  return { printed: JSON.parse(text), told };
}

async function fileOf(name: string, text: string): Promise<string> {
  const file = path.join(folder, name);
  await writeFile(file, text);
  return file;
}

const people = `Partner list of October

Partner no;Vorname;Nachname;E-Mail;Position;Stadt;Land;Unsubscribed
17;Ada;Lark;ada@acme.example;Senior Software Engineer;Berlin;Germany;
18;Bob;Stone;bob@acme.example;CEO;Paris;FR;no
19;Eve;Gone;eve@acme.example;CEO;Paris;FR;yes
20;Too;Wide;wide@acme.example;CEO;Paris;FR;no;more
;;;;CEO;;;
`;
const counts = {
  rows: 5,
  new: 2,
  changed: 0,
  same: 0,
  gone: 0,
  merged: 0,
  rejected: 2,
  suppressed: 1,
};

/** Everything that an import may write. */
async function written(): Promise<unknown> {
  const [row] = await database.sql`
    select (select count(*) from imports)::int as imports, (select count(*) from source_records)::int as records,
      (select count(*) from persons)::int as persons, (select count(*) from companies)::int as companies,
      (select count(*) from source_mappings)::int as mappings, (select count(*) from import_rows)::int as staged,
      (select count(*) from suppressed_identifiers)::int as suppressed, (select count(*) from positions)::int as positions`;
  return row;
}

describe('a file of no known source', () => {
  test('is imported by a mapping that is guessed, shown and kept', async () => {
    const file = await fileOf('partners.csv', people);
    const first = await run('--map', 'partners', file);
    expect(first.printed).toEqual({ import_id: 1, source: 'partners', ...counts });
    const mapping = {
      of: 'persons',
      columns: {
        city: ['Stadt'],
        opt_out: ['Unsubscribed'],
        given_name: ['Vorname'],
        family_name: ['Nachname'],
        email: ['E-Mail'],
        job_title: ['Position'],
        country: ['Land'],
      },
    };
    expect(first.told).toContain(`mapping partners (guessed): ${JSON.stringify(mapping)}`);
    expect(first.told).toContain('not imported: Partner no\n');
    const rejects = (await readFile(`${file}.rejects.jsonl`, 'utf8')).trim().split('\n');
    expect(rejects.map((line) => JSON.parse(line).reason)).toEqual([
      'more_cells_than_header',
      'names_no_person',
    ]);
    const found = await database.sql`
      select p.name, surname, work_email, position, n.iso2, c.name as city
      from persons p join countries n on n.id = p.country_id join cities c on c.id = p.city_id order by p.name`;
    expect([...found]).toEqual([
      {
        name: 'Ada',
        surname: 'Lark',
        workEmail: 'ada@acme.example',
        position: 'Senior Software Engineer',
        iso2: 'DE',
        city: 'Berlin',
      },
      {
        name: 'Bob',
        surname: 'Stone',
        workEmail: 'bob@acme.example',
        position: 'CEO',
        iso2: 'FR',
        city: 'Paris',
      },
    ]);
    const again = await run('--map', 'partners', file);
    expect(again.told).toContain('mapping partners (kept)');
    expect(again.printed).toMatchObject({ new: 0, changed: 0, same: 2 });
    const other = await fileOf('other.csv', 'Vorname,E-Mail\nAda,ada@acme.example\n');
    await expect(run('--map', 'partners', other)).rejects.toThrow(
      /no column Stadt; nothing was changed/,
    );
  });

  test('is imported by a mapping in a file, which is kept under its name', async () => {
    const file = await fileOf('partners.csv', people);
    const columns = { key: ['Partner no'], full_name: ['Nachname'], email: ['E-Mail'] };
    const mapping = await fileOf(
      'map.json',
      JSON.stringify({ name: 'partners', of: 'persons', columns }),
    );
    expect((await run('--map', mapping, file)).told).toContain('mapping partners (given)');
    const keys = await database.sql`
      select key from source_records where source = 'partners' and record is not null order by key`;
    expect(keys.map(({ key }) => key)).toEqual(['17', '18', '19']);
    const { told } = await run('--map', 'partners', '--dry-run', file);
    expect(told).toContain(
      `mapping partners (kept): ${JSON.stringify({ of: 'persons', columns })}`,
    );
    const same = await run('--map', mapping, '--dry-run', file);
    expect(same.told).toContain('mapping partners (given): ');
    await writeFile(
      mapping,
      JSON.stringify({ name: 'partners', of: 'persons', columns: { email: ['E-Mail'] } }),
    );
    const other = await run('--map', mapping, '--dry-run', file);
    expect(other.told).toContain('mapping partners (given, replaces the kept one): ');
  });

  test('may be JSON lines of companies, with members inside members', async () => {
    const company = (id: number, name: string, domain: string) =>
      JSON.stringify({
        id,
        name,
        web: { domain },
        place: { city: 'LEEDS', country: 'UK' },
        industry: 'banking',
      });
    const text = [
      company(1, 'Acme Ltd', 'acme.example'),
      '{"id": 2',
      company(3, 'Bolt Ltd', 'bolt.example'),
    ];
    const file = await fileOf('companies.jsonl', text.join('\n'));
    const columns = {
      key: ['id'],
      name: ['name'],
      domain: ['web.domain'],
      city: ['place.city'],
      country: ['place.country'],
      industry: ['industry'],
    };
    const mapping = await fileOf('register.json', JSON.stringify({ of: 'companies', columns }));
    const { printed } = await run('--map', mapping, file);
    expect(printed).toMatchObject({ source: 'register', rows: 3, new: 2, rejected: 1 });
    const found = await database.sql`
      select o.name, domain, c.name as city, i.name as industry from companies o
      join cities c on c.id = o.city_id join industries i on i.id = o.industry_id order by o.name`;
    expect([...found]).toEqual([
      { name: 'Acme Ltd', domain: 'acme.example', city: 'Leeds', industry: 'Banking' },
      { name: 'Bolt Ltd', domain: 'bolt.example', city: 'Leeds', industry: 'Banking' },
    ]);
    const other = await fileOf('people.jsonl', '{"id": 1, "name": "Acme"}\n');
    await expect(run('--map', 'register', other)).rejects.toThrow(
      /has a member web.domain; nothing was changed/,
    );
  });

  test('may be separated by bars, and a record that is too deep is rejected', async () => {
    const bars = await fileOf('bars.csv', 'Vorname|E-Mail\nAda|ada@acme.example\n');
    expect((await run('--map', 'bars', bars)).printed).toMatchObject({ rows: 1, new: 1 });
    const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
    const ada = '{"name": "Ada Lark", "email": "ada@acme.example"}';
    const bob = `{"name": "Bob Lark", "email": "bob@acme.example", "more": ${deep}}`;
    const file = await fileOf('deep.jsonl', `${ada}\n${bob}\n`);
    expect((await run('--map', 'deep', file)).printed).toMatchObject({
      rows: 2,
      new: 1,
      rejected: 1,
    });
  });

  test.each([
    ['hubspot', /hubspot is the name of a source/],
    ['Partner List', /is not a valid mapping name/],
    ['missing.json', /missing.json cannot be read/],
  ])('is refused for the mapping %s', async (name, message) => {
    const file = await fileOf('partners.csv', people);
    await expect(run('--map', name, file)).rejects.toThrow(message);
    expect(await written()).toMatchObject({ imports: 0, mappings: 0 });
  });

  test.each([
    ['{"of": "persons", "columns": {"emails": ["E-Mail"]}}', /other than key, salutation/],
    ['{"of": "persons", "columns": {}}', /names no column/],
    ['{"of": "people"}', /of/],
    ['nothing', /is not JSON/],
  ])('is refused for the mapping file %s', async (text, message) => {
    const [file, mapping] = [await fileOf('partners.csv', people), await fileOf('map.json', text)];
    await expect(run('--map', mapping, file)).rejects.toThrow(message);
    expect(await written()).toMatchObject({ imports: 0, mappings: 0 });
  });

  test('is refused without a header, and with columns that say nothing', async () => {
    const bare = await fileOf(
      'bare.csv',
      'ada@acme.example,+442079460001\nbob@acme.example,+442079460002\n',
    );
    await expect(run('--map', 'bare', bare)).rejects.toThrow(
      /no row with the names of its columns/,
    );
    const colours = await fileOf('colours.csv', 'Colour,Weight\nred,3\n');
    await expect(run('--map', 'colours', colours)).rejects.toThrow(/Colour, Weight/);
    expect(await written()).toMatchObject({ imports: 0, mappings: 0 });
  });
});

test('a device for the rejected records is written to and stays; a full one ends the import with its name', async () => {
  const file = await fileOf('partners.csv', people);
  // Links: the test must not remove a device of the machine.
  const [none, full] = [path.join(folder, 'null'), path.join(folder, 'full')];
  await symlink('/dev/null', none);
  await symlink('/dev/full', full);
  await run('--map', 'partners', file, '--dry-run', '--rejects', none);
  expect(await readlink(none)).toBe('/dev/null');
  const refused = run('--map', 'partners', file, '--rejects', full);
  await expect(refused).rejects.toThrow(/cannot be written to .*ENOSPC.*--rejects/);
  expect(await readlink(full)).toBe('/dev/full');
});

test('rejected records that cannot be written stop the import before it begins', async () => {
  const file = await fileOf('partners.csv', people);
  const rejects = path.join(folder, 'no-such-folder', 'rejects.jsonl');
  const refused = run('--map', 'partners', file, '--rejects', rejects);
  await expect(refused).rejects.toThrow(/cannot be written to .*Name another file with --rejects/);
  expect(await written()).toMatchObject({ imports: 0, mappings: 0 });
});

test('rejected records never replace a file that is imported', async () => {
  const text = '{"id":"none"}\n';
  const own = await fileOf('kept.jsonl', text);
  const link = path.join(folder, 'link-to-kept');
  await symlink(own, link);
  for (const rejects of [own, link, path.join(folder, '.', 'kept.jsonl')]) {
    await expect(run('persons', own, '--rejects', rejects)).rejects.toThrow(
      /is imported.*--rejects/,
    );
    expect(await readFile(own, 'utf8')).toBe(text);
  }
  const file = await fileOf('kept.csv', people);
  const second = await fileOf('kept.csv.rejects.jsonl', people);
  await expect(run('--map', 'partners', file, second)).rejects.toThrow(/is imported.*--rejects/);
  expect(await readFile(second, 'utf8')).toBe(people);
});

test('a file of rejected records exists only when a record was rejected', async () => {
  const beside = async () => (await readdir(folder)).filter((name) => name.includes('rejects'));
  const absent = path.join(folder, 'absent.jsonl');
  await expect(run('persons', absent)).rejects.toThrow(/ENOENT|no such file/);
  expect(await beside()).toEqual([]);
  const file = await fileOf('own.jsonl', '{"id":1,"email":"ada@acme.example"}\n');
  expect((await run('persons', file)).printed).toMatchObject({ inserted: 1, rejects: null });
  expect(await beside()).toEqual([]);
  await fileOf('own.jsonl', '{"id":"none"}\n');
  await run('persons', file);
  expect(await beside()).toEqual(['own.jsonl.rejects.jsonl']);
  // An earlier import's are not those of this one.
  await fileOf('own.jsonl', '{"id":1,"email":"ada@acme.example"}\n');
  await run('persons', file);
  expect(await beside()).toEqual([]);
});

test('rejected records are told by reason, the most frequent first', async () => {
  const lines = ['{"id":"none"}', 'nothing', 'nothing', '{"id":2,"email":"ada@acme.example"}'];
  const file = await fileOf('own.jsonl', `${lines.join('\n')}\n`);
  const { text } = await runInWords('persons', file);
  expect(text).toMatch(/4 read: .*, 3 rejected \(.*\)\n {2}2 \w+\n {2}1 \w+\n[\d.]+ s\n$/);
});

describe('--dry-run', () => {
  test('counts what an import would do, and writes nothing', async () => {
    const file = await fileOf('partners.csv', people);
    const before = await written();
    const dry = { import_id: null, source: 'partners', ...counts };
    expect((await run('--map', 'partners', '--dry-run', file)).printed).toEqual(dry);
    const contacts = await fileOf(
      'contacts.csv',
      'Record ID,First Name,Last Name,Email,Unsubscribed from all email\n1,Ada,Lark,ada@acme.example,\n2,Eve,Gone,eve@acme.example,true\n',
    );
    expect((await run('--source', 'hubspot', '--dry-run', contacts)).printed).toMatchObject({
      import_id: null,
      rows: 2,
      new: 1,
      suppressed: 1,
    });
    expect(await written()).toEqual(before);
    expect((await run('--map', 'partners', file)).printed).toMatchObject(counts);
  });

  test('tells what an undo would do, and undoes nothing', async () => {
    const companies = await fileOf(
      'companies.csv',
      'Record ID,Company name,Company Domain Name\n7,Acme,acme.example\n',
    );
    const contacts = await fileOf(
      'contacts.csv',
      'Record ID,First Name,Last Name,Email\n1,Ada,Lark,ada@acme.example\n',
    );
    await run('--source', 'hubspot', companies);
    await run('--source', 'hubspot', contacts);
    const before = await written();
    const undo = { later: [], restored: 0, ended: 1, without_company: 1 };
    expect((await run('undo', '1', '--dry-run')).printed).toEqual({ undo });
    expect((await runInWords('undo', '1', '--dry-run')).text).toBe(
      'would remove 1 record and restore 0 records\n1 record of other imports would lose their company until it is imported again\n',
    );
    expect(await written()).toEqual(before);
    expect((await run('undo', '1')).printed).toEqual({ undone: [1] });
    expect((await run('undo', '1', '--dry-run')).printed).toEqual({ undo: null });
    await expect(run('unsplit', '1', '--dry-run')).rejects.toThrow(/--dry-run does not go with/);
  });

  test('is refused for files with ids of one’s own, and so are both kinds of files', async () => {
    const file = await fileOf('people.jsonl', '{"id": 1, "name": "Ada"}');
    await expect(run('persons', file, '--dry-run')).rejects.toThrow(/--dry-run goes with/);
    await expect(run('--source', 'hubspot', '--map', 'partners', file)).rejects.toThrow(
      /--source or --map/,
    );
    expect(await written()).toMatchObject({ persons: 0 });
    expect(existsSync(`${file}.rejects.jsonl`)).toBe(false);
  });
});

test('a day of the data that is to come is refused, by the name of its option', async () => {
  const file = await fileOf('partners.csv', people);
  await expect(run('--map', 'partners', file, '--as-of', '2126-01-01')).rejects.toThrow(
    /--as-of <day>.*later than tomorrow/,
  );
});
