/** Embedded servers held by a separate process, from code compiled outside the checkout. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, symlinkSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import postgres from 'postgres';
import { readProcessStart } from '../../infra/embedded/process-identity.ts';
import { packageRoot } from '../../src/core/lib/package-root.ts';

/** Throw-away servers: these tests do not cover a crash of the machine. */
export const settings = { fsync: 'off', shared_buffers: '32MB' };
export const isRoot = process.getuid?.() === 0;
export const nobody = 65_534;

/** Starts a server, prints its address on its first line, and runs until killed. */
const holdScript = `
import { startEmbeddedPostgres } from './infra/embedded/embedded-postgres.js';
const [dataDir, settings] = process.argv.slice(2);
const log = (line) => console.error(line);
try {
  const options = { dataDir, log, settings: JSON.parse(settings) };
  const { pid, url } = await startEmbeddedPostgres(options);
  console.log(JSON.stringify({ pid, url }));
} catch (error) {
  console.log(JSON.stringify({ code: error.code, message: error.message }));
  process.exit(1);
}
`;

/** The folder of a test file; `home` below it is accessible only to the current user. */
export const root = mkdtempSync(path.join(tmpdir(), 'embedded-postgres-'));
let folders = 0;
const children: ChildProcess[] = [];

/** Call before all tests of a file. */
export async function prepareServers(): Promise<void> {
  // Files may share the process, and the one before has removed it.
  await mkdir(root, { recursive: true });
  await chmod(root, 0o755);
  await mkdir(path.join(root, 'home'), { mode: 0o700 });
  await installCompiled(path.join(root, 'app'));
}

/** Call after all tests of a file. */
export async function removeServers(): Promise<void> {
  for (const child of children) child.kill('SIGKILL');
  await rm(root, { recursive: true, force: true, maxRetries: 20 });
}

/** Registers the child to be killed at the end of the tests. */
export function killLater(child: ChildProcess): void {
  children.push(child);
}

/** A folder that does not exist yet, below one that only the current user may enter. */
export function newDataDir(): string {
  folders += 1;
  return path.join(root, 'home', `folder-${folders}`, '.enrich');
}

/**
 * The compiled module with copies of the two packages it needs: outside the checkout, which other
 * users may not be able to read, and without the library links, as if npm ran no postinstall.
 */
async function installCompiled(app: string): Promise<void> {
  const config = {
    extends: path.join(packageRoot, 'tsconfig.build.json'),
    compilerOptions: {
      ...{ rootDir: packageRoot, outDir: app, incremental: false, sourceMap: false },
      tsBuildInfoFile: null,
      typeRoots: [path.join(packageRoot, 'node_modules/@types')],
    },
    include: [],
    files: [path.join(packageRoot, 'infra/embedded/embedded-postgres.ts')],
  };
  await mkdir(app);
  await writeFile(path.join(app, 'tsconfig.json'), JSON.stringify(config));
  const tsc = path.join(packageRoot, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [tsc, '-p', path.join(app, 'tsconfig.json')]);
  await writeFile(path.join(app, 'package.json'), '{"type":"module"}');
  await writeFile(path.join(app, 'hold.js'), holdScript);
  for (const name of [
    ...['postgres', 'zod'],
    `@embedded-postgres/${process.platform}-${process.arch}`,
  ]) {
    const target = path.join(app, 'node_modules', name);
    const isNoLibraryLink = (file: string) => !/\/native\/lib\/lib[^/]*\.so(\.\d+)?$/.test(file);
    cpSync(path.join(packageRoot, 'node_modules', name), target, {
      recursive: true,
      filter: (file) => isNoLibraryLink(file) || !isLink(file),
    });
    if (isRoot) execFileSync('chown', ['-R', String(nobody), target]);
  }
}

function isLink(file: string): boolean {
  const entries = readdirSync(path.dirname(file), { withFileTypes: true });
  return entries.some((entry) => entry.name === path.basename(file) && entry.isSymbolicLink());
}

interface Held {
  child: ChildProcess;
  answer: { pid: number; url: string; code?: string; message?: string };
  log: () => string;
}

/** Runs the hold script in a separate process; resolves with its first line. */
export async function hold(
  dataDir: string,
  options: { uid?: number; gid?: number; env?: NodeJS.ProcessEnv } = {},
): Promise<Held> {
  const words = [path.join(root, 'app/hold.js'), dataDir, JSON.stringify(settings)];
  const child = spawn(process.execPath, words, { cwd: '/', ...options });
  children.push(child);
  let log = '';
  child.stderr.on('data', (bytes) => {
    log += bytes;
  });
  const [line] = (await Promise.race([
    once(createInterface(child.stdout), 'line'),
    once(child, 'close').then(() => Promise.reject(new Error(`ended: ${log}`))),
  ])) as [string];
  return { child, answer: JSON.parse(line), log: () => log };
}

/** As `hold`, but throws when the start fails. */
export async function holdReady(...options: Parameters<typeof hold>): Promise<Held> {
  const held = await hold(...options);
  if (held.answer.code !== undefined) throw new Error(held.answer.message);
  return held;
}

/** Kills the holder; its server then exits. */
export async function endHeld({ child, answer }: Pick<Held, 'child' | 'answer'>): Promise<void> {
  child.kill('SIGKILL');
  await waitUntil('the server is gone', 15_000, () => isGone(answer.pid));
}

export async function waitUntil(what: string, limitMs: number, isSo: () => Promise<boolean>) {
  const deadline = Date.now() + limitMs;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`not within ${limitMs} ms: ${what}`);
    await delay(20);
  }
}

export async function isGone(pid: number): Promise<boolean> {
  return (await readProcessStart(pid)) === null;
}

/** Rows of one statement over a new connection. */
export async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = postgres(url, { max: 1, onnotice: () => {} });
  try {
    return await client.unsafe(statement);
  } finally {
    await client.end();
  }
}

export async function modeOf(...parts: string[]): Promise<string> {
  return ((await stat(path.join(...parts))).mode & 0o777).toString(8);
}

/** The system's PATH without the named programs. */
export async function pathWithout(...names: string[]): Promise<NodeJS.ProcessEnv> {
  const folder = await mkdtemp(path.join(root, 'bin-'));
  await chmod(folder, 0o755);
  for (const bin of ['/usr/bin', '/bin', '/usr/sbin', '/sbin']) {
    for (const name of readdirSync(bin)) {
      if (names.includes(name)) continue;
      try {
        symlinkSync(path.join(bin, name), path.join(folder, name));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
    }
  }
  return { PATH: folder };
}
