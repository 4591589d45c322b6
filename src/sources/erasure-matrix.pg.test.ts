/** Erasures and opt-outs by everything that a source has of a person, and each way in which its files could bring them back. */
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { noRejects } from '../../tests/support/source-input.ts';
import { importSource, type SourceImportOptions } from '../core/graph/sources/import-source.ts';
import { splitRecords, undoSplit } from '../core/graph/sources/split.ts';
import { undoImport } from '../core/graph/sources/undo-import.ts';
import { must } from '../core/lib/assert.ts';
import { suppressHashes } from '../core/suppression/suppress.ts';
import { erasePerson } from '../jobs/erasure/erase-person.ts';
import { listTables } from '../jobs/erasure/erasure.sql.ts';
import type { PersonAsked } from '../jobs/erasure/find-person.ts';
import {
  type AddressKind,
  type FilePerson,
  type PeopleFile,
  peopleFiles,
} from './people-files.test-suite.ts';
import { openMapped, openSource } from './read-source.ts';

let pipeline: Pipeline;
let folder: string;
let day = 0;
let people = 0;
beforeAll(async () => {
  pipeline = await openPipeline();
  folder = await mkdtemp(path.join(tmpdir(), 'matrix-'));
});
afterAll(async () => {
  await pipeline.close();
  await rm(folder, { recursive: true });
});

/** Someone whom no other has a word or a digit in common with that `traces` looks for. */
function someone(file: PeopleFile): FilePerson {
  people += 1;
  const word = `zq${people}x`;
  const digits = String(people).padStart(4, '0');
  const values: Record<AddressKind, string> = {
    email: `ada.${word}@home.example`,
    email2: `ada2.${word}@home.example`,
    phone: `+4420794${digits}1`,
    mobile: `+447700${digits}12`,
    profile: `https://www.linkedin.com/in/ada-${word}`,
    handle: `ada_${word}`,
  };
  const own = Object.fromEntries(file.has.map((kind) => [kind, values[kind]]));
  return { key: String(70_000 + people), name: `Ada${word}`, surname: `Lark${word}`, ...own };
}

/** Imports these people as the newest file of the source. */
async function load(
  given: PeopleFile,
  list: readonly FilePerson[],
  options: Pick<SourceImportOptions, 'onWritten'> = {},
): Promise<number> {
  day += 1;
  const asOf = new Date(Date.UTC(2024, 0, day)).toISOString().slice(0, 10);
  const file = path.join(folder, given.file);
  await writeFile(file, given.text(list));
  const files = { source: given.source, files: [file], asOf };
  const input =
    given.columns === undefined
      ? await openSource(files)
      : await openMapped(given.source, { of: 'persons', columns: given.columns }, files);
  const report = await importSource(pipeline.sql, input, { ...options, rejects: noRejects() });
  expect(report).toMatchObject({ rows: list.length, rejected: 0 });
  return must(report.import_id, 'import');
}

async function erase(asked: PersonAsked): Promise<void> {
  const erasure = await erasePerson(pipeline.context, asked);
  expect(erasure, JSON.stringify(asked)).toMatchObject({ erased: 1, left: [] });
}

async function idOf({ name }: FilePerson): Promise<number> {
  const [row] = await pipeline.sql<{ id: number }[]>`select id from persons where name = ${name}`;
  return must(row, name).id;
}

const wordOf = ({ name }: FilePerson) => name.toLowerCase().slice(3);

/** The words of those of these people whom the graph serves. */
async function served(list: readonly FilePerson[]): Promise<string[]> {
  const rows = await pipeline.sql<{ word: string }[]>`
    select distinct lower(substr(name, 4)) as word from persons p
    where not exists (select from suppressed_persons s where s.person_id = p.id)`;
  const words = new Set(rows.map(({ word }) => word));
  return list.map(wordOf).filter((word) => words.has(word));
}

/** Rows, of all tables, with a word or a number of one of these people. */
async function traces(list: readonly FilePerson[]): Promise<string[]> {
  const { sql } = pipeline;
  const texts = list.flatMap((person) => [wordOf(person), person.phone, person.mobile]);
  const patterns = texts.filter((text) => text !== undefined).map((text) => `%${text}%`);
  const tables = await listTables(sql);
  const rows = tables.map(
    (table) => sql`select ${table} as table, lower(t::text) as text from ${sql(table)} t`,
  );
  const all = rows.reduce((before, next) => sql`${before} union all ${next}`);
  const found = await sql<{ table: string; text: string }[]>`
    select * from (${all}) r where text like any(${patterns}::text[])`;
  return found.map(({ table, text }) => `${table}: ${text}`);
}

/** As another program writes them. */
function respelled(person: FilePerson): FilePerson {
  return {
    ...person,
    name: person.name.toUpperCase(),
    surname: person.surname.toUpperCase(),
    email: person.email && ` ${person.email.toUpperCase()}`,
    email2: person.email2?.toUpperCase(),
    phone: person.phone?.replace('+44', '0044 (0)'),
    mobile: person.mobile?.replace('+447', '+44 7-'),
    profile: person.profile?.replace('https://www', 'http://uk').toUpperCase(),
    handle: person.handle?.toUpperCase(),
  };
}

const rekeyed = (person: FilePerson) => ({ ...person, key: `9${person.key}` });
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const clubs = peopleFiles['own columns without ids'];

describe.each(Object.entries<PeopleFile>(peopleFiles))('people of %s', (_name, file) => {
  it('who were erased or opted out are not served again, and leave nothing of an erasure', async () => {
    const byAddress = file.has.map((kind) => ({ kind, person: someone(file) }));
    const byId = someone(file);
    const byHash = someone(file);
    const flagged = file.hasOptOuts ? [someone(file)] : [];
    const [shares, spared] = [someone(file), { ...someone(file), email: '' }];
    spared.email = must(shares.email, 'an address');
    const innocent = someone(file);
    const erased = [...byAddress.map(({ person }) => person), byId];
    const gone = [...erased, byHash, ...flagged];
    const all = [...gone, shares, spared, innocent];
    const stays = [spared, innocent].map(wordOf);

    const imported = await load(file, all);
    expect(await served(all)).toEqual(all.map(wordOf));
    for (const { kind, person } of byAddress) {
      await erase({ identifier: (kind === 'handle' ? '@' : '') + must(person[kind], kind) });
    }
    for (const person of [byId, shares]) await erase({ id: await idOf(person) });
    await suppressHashes(pipeline.sql, [sha256(must(byHash.email, 'an address'))]);
    if (file.hasOptOuts) {
      await load(file, [...flagged.map((one) => ({ ...one, isOptedOut: true })), innocent]);
    }
    expect([await served(all), await traces(erased)]).toEqual([stays, []]);

    await load(file, all);
    expect([await served(all), await traces(erased)]).toEqual([stays, []]);
    await undoImport(pipeline.sql, imported, { withLater: true });
    expect([await served(all), await traces(erased)]).toEqual([[], []]);
    await load(file, all.map(respelled));
    expect([await served(all), await traces(erased)]).toEqual([stays, []]);
    if (file.hasIds) {
      const others = all.map((one) => ({ ...someone(file), key: one.key, name: one.name }));
      await load(file, others);
      expect([await served(erased), await traces(erased)]).toEqual([[], []]);
      await load(file, gone.map(rekeyed));
      expect(await served(gone)).toEqual([]);
    }
    const probes = file.has.map((kind) => {
      const { key, name, surname } = someone(clubs);
      return { key, name, surname, [kind]: byId[kind] };
    });
    await load(clubs, probes);
    expect(await served(probes)).toEqual([]);
  });
});

it.each(['hubspot', 'google-contacts', 'vcard without ids', 'own columns'] as const)(
  'a person of %s who is erased while a file is imported leaves nothing',
  async (name) => {
    const file: PeopleFile = peopleFiles[name];
    const [person, fresh] = [someone(file), someone(file)];
    await load(file, [person]);
    const id = await idOf(person);
    const changed = { ...person, mobile: someone(file).mobile, profile: someone(file).profile };
    let erasing: Promise<void> | undefined;
    await load(file, [changed, fresh], {
      // It waits for what the import has written.
      onWritten: async () => {
        erasing = erase({ id });
      },
    });
    await erasing;
    await load(file, [changed, fresh]);
    expect([await served([person, fresh]), await traces([changed])]).toEqual([[wordOf(fresh)], []]);
  },
);

describe.each([
  ['hubspot', 'vcard'],
  ['own columns', 'linkedin'],
] as const)('a person whom %s and %s have', (first, second) => {
  const [one, other]: PeopleFile[] = [peopleFiles[first], peopleFiles[second]];

  it.each(['joined', 'split', 'split and joined again'])('%s, is erased in both', async (how) => {
    const person = someone(must(one, first));
    const twin = { ...someone(must(other, second)), name: person.name, email: person.email };
    const both = [person, { ...twin, surname: person.surname }];
    const loadBoth = async () => {
      await load(must(one, first), both.slice(0, 1));
      await load(must(other, second), both.slice(1));
    };
    await loadBoth();
    const id = await idOf(person);
    if (how !== 'joined') {
      const [record] = await pipeline.sql<{ number: number }[]>`
        select number from source_records where id = ${id} and source = ${must(other, second).source}`;
      const split = await splitRecords(pipeline.sql, 'person', id, [must(record, second).number]);
      if (how === 'split') for (const part of split.ids) await erase({ id: part });
      else await undoSplit(pipeline.sql, split.split);
    }
    await erase({ id });
    expect([await served(both), await traces(both)]).toEqual([[], []]);
    await loadBoth();
    expect([await served(both), await traces(both)]).toEqual([[], []]);
  });
});
