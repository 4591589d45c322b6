/**
 * A register: `enrich import --source gb-companies` of a file as Companies House publishes it, into an empty
 * graph. Compared with COPY of the finished rows into copies of every table that has a row for each company, with
 * the same indexes; COPY reads no file of a register, identifies nothing, and computes no key.
 */
import { createWriteStream } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { stringify } from 'csv-stringify/sync';
import type { Database } from '../src/core/db/client.ts';
import { assert, must } from '../src/core/lib/assert.ts';
import { gbCompanyColumns } from '../src/sources/adapters/gb-companies.ts';
import type { BenchStack } from './bench-stack.ts';
import type { BenchResult } from './benchmark.ts';
import { type ImportTarget, openTarget, runBesideCopy, runImport } from './beside-copy.ts';
import {
  copyFromFiles,
  copyToFiles,
  countRows,
  emptyRegistered,
  filledByRegister,
  makeCopies,
  readCompanyNames,
} from './import.sql.ts';

const COMPANIES_PER_SECOND = 20_000;
/** The columns of a published file. */
const PUBLISHED_COLUMNS = 55;

export interface RegisterOptions {
  companies: number;
  runs: number;
  say: (line: string) => void;
}

/** Measures both. Throws when a table has another number of rows, or a company is not new. */
export async function measureRegister(
  stack: BenchStack,
  { companies, runs, say }: RegisterOptions,
): Promise<BenchResult[]> {
  await using target = await openTarget(stack, 'register');
  const { sql, folder } = target;
  const file = path.join(folder, 'BasicCompanyDataAsOneFile-2026-10-01.csv');
  say(`Writing ${companies} companies ...`);
  const names = await readCompanyNames(stack.sql, companies);
  await writeRegister(file, names);
  await makeCopies(sql, filledByRegister);
  const counts: Record<string, number> = {};
  const results = await runBesideCopy(stack, {
    name: 'register',
    runs,
    details: { companies: names.length, tables: counts },
    empty: () => emptyRegistered(sql),
    ours: {
      run: () => importRegister(target, file, names.length),
      async check() {
        await copyToFiles(sql, filledByRegister, folder);
        for (const table of filledByRegister) counts[table] = await countRows(sql, table);
      },
    },
    copy: {
      run: () => copyFromFiles(sql, 'copied', filledByRegister, folder),
      check: () => compareCounts(sql, counts),
    },
  });
  const { ours: seconds } = must(results[0], 'a result');
  const rate: BenchResult = {
    name: 'register-rate',
    unit: 'companies/s',
    ours: names.length / seconds,
    reference: COMPANIES_PER_SECOND,
    against: `${COMPANIES_PER_SECOND} companies a second`,
    better: 'higher',
    goal: 1,
    details: {},
    runs: [],
  };
  return [...results, rate];
}

async function compareCounts(sql: Database, counts: Record<string, number>): Promise<void> {
  for (const table of filledByRegister) {
    const copied = await countRows(sql, `copied.${table}`);
    assert(copied === counts[table], `${table}: ${counts[table]} rows, ${copied} copied`);
  }
}

async function importRegister(target: ImportTarget, file: string, companies: number) {
  const found = await runImport<{ new: number }>(target, ['--source', 'gb-companies', file]);
  assert(found.new === companies, `${found.new} of ${companies} companies are new`);
}

/** Writes a company a line, with as many columns as a published file has. */
async function writeRegister(file: string, names: readonly string[]): Promise<void> {
  const others = PUBLISHED_COLUMNS - gbCompanyColumns.length;
  const columns = [
    ...gbCompanyColumns,
    ...Array.from({ length: others }, (_, index) => `Accounts.${index + 1}`),
  ];
  function* lines() {
    yield stringify([columns]);
    for (const [index, name] of names.entries()) {
      const cells: Record<string, string> = {
        CompanyName: `${name} LIMITED`,
        CompanyNumber: String(index + 1).padStart(8, '0'),
        'RegAddress.AddressLine1': `${(index % 200) + 1} HIGH STREET`,
        'RegAddress.PostTown': `TOWN ${index % 500}`,
        'RegAddress.Country': 'UNITED KINGDOM',
        'RegAddress.PostCode': `AB${(index % 90) + 1} 1CD`,
        CompanyStatus: 'Active',
        IncorporationDate: `0${(index % 9) + 1}/07/${1980 + (index % 45)}`,
        'SICCode.SicText_1': `${62010 + (index % 80)} - Business`,
        ...(index % 10 === 0
          ? { 'PreviousName_1.CompanyName': `${names[(index * 7) % names.length]} LTD` }
          : {}),
      };
      const row = columns.map((column) => cells[column] ?? '');
      yield stringify([row], { quoted: true, quoted_empty: true });
    }
  }
  await pipeline(Readable.from(lines()), createWriteStream(file));
}
