/**
 * Runs the money tests on copies of the project, each with one change to its SQL: a test here passes when the
 * change was detected. First all of them must pass without a change.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packageRoot } from '../../src/core/lib/package-root.ts';
import { startTestServer, type TestServer } from '../support/postgres-server.ts';
import type { Killer } from './killers.ts';
import { mutate } from './mutate.ts';
import { sqlMutants } from './sql-mutants.ts';

const copy = path.join(packageRoot, 'coverage/sql-mutants');
const copied = [
  'src',
  'samples',
  'tests',
  'infra',
  'package.json',
  'tsconfig.json',
  'vitest.config.ts',
];

/** A change may make a test hang; as with Stryker, that counts as detected. */
const RUN_MS_MAX = 120_000;

/** Tests of statements share a server; those of migrations need their own. */
const sharedConfig = 'shared.config.ts';
let server: TestServer;

beforeAll(async () => {
  await rm(copy, { recursive: true, force: true });
  await mkdir(copy, { recursive: true });
  for (const name of copied) {
    await cp(path.join(packageRoot, name), path.join(copy, name), { recursive: true });
  }
  server = await startTestServer();
  const test = { provide: { serverUrl: server.url }, testTimeout: 30_000, hookTimeout: 60_000 };
  await writeFile(
    path.join(copy, sharedConfig),
    `export default { test: ${JSON.stringify(test)} };`,
  );
  // No mutant changes the thread that reads a local copy, which is compiled.
  for (const name of ['node_modules', 'dist']) {
    await symlink(path.join(packageRoot, name), path.join(copy, name));
  }
});
afterAll(async () => {
  await server.stop();
  await rm(copy, { recursive: true, force: true });
});

interface Report {
  passed: string[];
  failed: string[];
}

/** Runs tests of the copy; null when they did not finish. */
async function runTests(killer: Killer, config: string, bail: number): Promise<Report | null> {
  const report = path.join(copy, 'report.json');
  await rm(report, { force: true });
  const vitest = path.join(packageRoot, 'node_modules/vitest/vitest.mjs');
  const options = ['--reporter=json', `--outputFile=${report}`, '--maxWorkers=1'];
  const child = spawn(
    process.execPath,
    [
      vitest,
      'run',
      killer.file,
      ...options,
      `--config=${config}`,
      `--bail=${bail}`,
      '-t',
      killer.test,
    ],
    { cwd: copy, stdio: 'ignore', timeout: RUN_MS_MAX, killSignal: 'SIGKILL' },
  );
  await once(child, 'close');
  if (child.signalCode !== null) return null;
  const { testResults } = JSON.parse(await readFile(report, 'utf8')) as {
    testResults: { assertionResults: { fullName: string; status: string }[] }[];
  };
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  const namesOf = (status: string) =>
    tests.filter((one) => one.status === status).map(({ fullName }) => fullName);
  return { passed: namesOf('passed'), failed: namesOf('failed') };
}

const killers = [
  ...new Map(sqlMutants.map(({ killer }) => [JSON.stringify(killer), killer])).values(),
];

describe('without a change', () => {
  test.each(killers)('$file passes: $test', async (killer) => {
    const report = await runTests(killer, sharedConfig, 0);
    expect(report?.failed).toEqual([]);
    expect(report?.passed.length).toBeGreaterThan(0);
  });
});

describe('a change is detected', () => {
  test.each(sqlMutants)('$after $find -> $replace', async (mutant) => {
    const file = path.join(copy, mutant.file);
    const whole = await readFile(file, 'utf8');
    await writeFile(file, mutate(whole, mutant));
    const config = mutant.file.endsWith('.sql') ? 'vitest.config.ts' : sharedConfig;
    const report = await runTests(mutant.killer, config, 1);
    await writeFile(file, whole);
    if (report !== null) expect(report.failed).not.toEqual([]);
  });
});
