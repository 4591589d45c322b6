/**
 * A register: `enrich import --source gb-companies` of a file as Companies House publishes it, into an empty
 * graph. Compared with COPY of the finished rows into copies of every table that has a row for each company, with
 * the same indexes; COPY reads no file of a register, identifies nothing, and computes no key.
 */
import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { stringify } from 'csv-stringify/sync';
import { environmentWithOnly } from '../src/core/config.ts';
import { connect, type Database } from '../src/core/db/client.ts';
import { migrate } from '../src/core/db/migrate.ts';
import { assert } from '../src/core/lib/assert.ts';
import { packageRoot } from '../src/core/lib/package-root.ts';
import { gbCompanyColumns } from '../src/sources/adapters/gb-companies.ts';
import type { BenchStack } from './bench-stack.ts';
import type { BenchResult } from './benchmark.ts';
import {
  copyFromFiles,
  copyToFiles,
  countRows,
  emptyRegistered,
  filledByRegister,
  makeCopies,
  makeDatabase,
  readCompanyNames,
} from './import.sql.ts';
import { interleave, median, type Run } from './interleave.ts';
import { cpuBetween, cpuOf, readCpu } from './process-cost.ts';

const execute = promisify(execFile);
const DATABASE_NAME = 'bench_register';
/** Maximum ratio to COPY into the same tables and indexes. */
const REGISTER_RATIO = 1.8;
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
  const folder = path.join(stack.folder, 'register');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  const file = path.join(folder, 'BasicCompanyDataAsOneFile-2026-10-01.csv');
  say(`Writing ${companies} companies ...`);
  const names = await readCompanyNames(stack.sql, companies);
  await writeRegister(file, names);
  await makeDatabase(stack.sql, DATABASE_NAME, 'create');
  const url = Object.assign(new URL(stack.databaseUrl), { pathname: `/${DATABASE_NAME}` }).href;
  const sql = connect({ url, connections: 2 });
  const pids = { node: [], postgres: stack.pids.postgres };
  const timed = async (work: () => Promise<unknown>): Promise<Run> => {
    await emptyRegistered(sql);
    const before = await readCpu(pids);
    const started = performance.now();
    await work();
    const wallSeconds = Number(((performance.now() - started) / 1000).toFixed(3));
    const cpu = cpuBetween(before, await readCpu(pids));
    // The import ran as a child process.
    const cpuSeconds = cpu === null ? null : { node: cpu.client, postgres: cpu.postgres };
    return { wallSeconds, cpuSeconds };
  };
  const counts: Record<string, number> = {};
  try {
    await migrate(sql);
    await makeCopies(sql, filledByRegister);
    const pairs = await interleave(
      runs,
      async () => {
        const run = await timed(() => importRegister(url, file, names.length, folder));
        await copyToFiles(sql, filledByRegister, folder);
        for (const table of filledByRegister) counts[table] = await countRows(sql, table);
        return run;
      },
      async () => {
        const run = await timed(() => copyFromFiles(sql, 'copied', filledByRegister, folder));
        await compareCounts(sql, counts);
        return run;
      },
    );
    const compare = (figure: (run: Run) => number) => ({
      ours: median(pairs.map((pair) => figure(pair.ours))),
      reference: median(pairs.map((pair) => figure(pair.reference))),
    });
    const shared = {
      unit: 's',
      against: 'COPY of the finished rows into copies of the tables, by the server, same indexes',
      better: 'lower' as const,
      details: { companies: names.length, tables: counts },
    };
    const wall = compare((run) => run.wallSeconds);
    return [
      { ...shared, name: 'register', ...wall, goal: REGISTER_RATIO, runs: pairs },
      { ...shared, name: 'register-cpu', ...compare(cpuOf), goal: null, runs: [] },
      {
        ...shared,
        name: 'register-rate',
        unit: 'companies/s',
        ours: names.length / wall.ours,
        reference: COMPANIES_PER_SECOND,
        against: `${COMPANIES_PER_SECOND} companies a second`,
        better: 'higher',
        goal: 1,
        runs: [],
      },
    ];
  } finally {
    await sql.end();
    await makeDatabase(stack.sql, DATABASE_NAME, 'drop');
    await rm(folder, { recursive: true });
  }
}

async function compareCounts(sql: Database, counts: Record<string, number>): Promise<void> {
  for (const table of filledByRegister) {
    const copied = await countRows(sql, `copied.${table}`);
    assert(copied === counts[table], `${table}: ${counts[table]} rows, ${copied} copied`);
  }
}

async function importRegister(
  databaseUrl: string,
  file: string,
  companies: number,
  folder: string,
): Promise<void> {
  const cli = path.join(packageRoot, 'dist', 'workers', 'cli.js');
  const rejects = path.join(folder, 'rejects.jsonl');
  const words = [cli, '--json', 'import', '--source', 'gb-companies', file, '--rejects', rejects];
  const env = environmentWithOnly({ databaseUrl });
  const { stdout } = await execute(process.execPath, words, { env });
  const found = JSON.parse(stdout) as { new: number };
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
