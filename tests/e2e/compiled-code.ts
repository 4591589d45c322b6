/** Builds `dist/` when a source file is newer, once for all concurrent test files. */
import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { connect } from '../../src/core/db/client.ts';
import { packageRoot } from '../../src/core/lib/package-root.ts';
import { readSourceFiles } from '../support/source-files.ts';

/** Advisory lock on the test run's own server against concurrent builds. */
const BUILD_LOCK = 5_090_117;

const run = promisify(execFile);

let built: Promise<void> | undefined;

/** Builds once for all test files of this process: to look through all sources takes a third of a second of a processor. */
export function buildIfStale(): Promise<void> {
  built ??= buildOnce();
  return built;
}

async function buildOnce(): Promise<void> {
  const sql = connect({ url: inject('serverUrl'), connections: 1 });
  try {
    await sql`select pg_advisory_lock(${BUILD_LOCK})`;
    if (await isStale()) await build();
  } finally {
    await sql.end();
  }
}

async function build(): Promise<void> {
  try {
    await run('npm', ['run', '-s', 'build'], { cwd: packageRoot });
  } catch (error) {
    // The compiler reports errors on stdout.
    throw new Error(`dist/ cannot be built: ${(error as { stdout?: string }).stdout}`, {
      cause: error,
    });
  }
}

/** The two compilations, each with its last output file. */
const builds = [
  { written: 'dist/.tsbuildinfo', from: /^(src(?!\/console\/)|workers|infra|bench)\// },
  { written: 'dist/.console.tsbuildinfo', from: /^src\/console\// },
];

async function isStale(): Promise<boolean> {
  const files = readSourceFiles().filter(({ path: file }) =>
    /(?<!\.test|\.test-suite)\.tsx?$|^package\.json$/.test(file),
  );
  const stale = builds.map(async ({ written, from }) => {
    const compiled = files.filter(({ path: file }) => from.test(file) || file === 'package.json');
    const changed = await Promise.all(compiled.map((file) => modifiedMs(file.path)));
    return Math.max(...changed) > (await modifiedMs(written));
  });
  return (await Promise.all(stale)).includes(true);
}

async function modifiedMs(file: string): Promise<number> {
  const info = await stat(path.join(packageRoot, file)).catch(() => null);
  return info?.mtimeMs ?? 0;
}
