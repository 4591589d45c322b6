/** Versions of the service next to this one: an older one from the repository, or a next one with migrations of the drill. */
import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { packageRoot, readVersion } from '../../src/core/lib/package-root.ts';

const run = promisify(execFile);
const OUTPUT_BYTES_MAX = 256 * 1024 * 1024;

export interface Version {
  /** As processes report it. */
  name: string;
  /** Its package. */
  root: string;
  /** Its compiled code. */
  code: string;
}

export const thisVersion: Version = {
  name: readVersion(),
  root: packageRoot,
  code: path.join(packageRoot, 'dist'),
};

/** Returns the newest tag of a release of another version than this one; null where there is none. */
export async function findRelease(): Promise<string | null> {
  const tags = await git('tag', '--list', 'v*', '--sort=-v:refname').catch(() => '');
  return tags.split('\n').find((tag) => tag !== '' && tag !== `v${thisVersion.name}`) ?? null;
}

/** Builds the version of a commit or tag in a new folder. */
export async function buildVersion(ref: string, root: string): Promise<Version> {
  await mkdir(root, { recursive: true });
  const commit = (await git('rev-parse', '--verify', `${ref}^{commit}`)).trim();
  const archive = `${root}.tar`;
  await git('archive', '--output', archive, commit);
  await run('tar', ['-xf', archive, '-C', root]);
  const [own, its] = await Promise.all(
    [packageRoot, root].map((folder) => readFile(path.join(folder, 'package-lock.json'), 'utf8')),
  );
  if (own === its)
    await symlink(path.join(packageRoot, 'node_modules'), path.join(root, 'node_modules'));
  else await run('npm', ['ci', '--silent'], { cwd: root, maxBuffer: OUTPUT_BYTES_MAX });
  await run('npm', ['run', '-s', 'build'], { cwd: root, maxBuffer: OUTPUT_BYTES_MAX });
  return describe(root);
}

/**
 * Makes a next version in a new folder: the code of this one, another number, and these migrations by their path below
 * `infra/migrations`.
 */
export async function makeNextVersion(
  root: string,
  migrations: Record<string, string>,
): Promise<Version> {
  const copied = new Set(['dist', 'infra', 'package.json']);
  await mkdir(root, { recursive: true });
  for (const name of await readdir(packageRoot)) {
    if (!copied.has(name)) await symlink(path.join(packageRoot, name), path.join(root, name));
  }
  await cp(path.join(packageRoot, 'dist'), path.join(root, 'dist'), { recursive: true });
  const folder = path.join(root, 'infra', 'migrations');
  await cp(path.join(packageRoot, 'infra', 'migrations'), folder, { recursive: true });
  for (const [name, text] of Object.entries(migrations)) {
    await writeFile(path.join(folder, name), text, { flag: 'wx' });
  }
  const own = JSON.parse(await readFile(path.join(packageRoot, 'package.json'), 'utf8')) as object;
  const [major, minor] = thisVersion.name.split('.').map(Number);
  const version = `${major}.${(minor ?? 0) + 1}.0`;
  await writeFile(path.join(root, 'package.json'), JSON.stringify({ ...own, version }));
  return describe(root);
}

/** Runs `enrich migrate` of the version. Throws with its output when it fails. */
export async function migrateBy({ code }: Version, databaseUrl: string, env: NodeJS.ProcessEnv) {
  const words = [path.join(code, 'workers', 'cli.js'), 'migrate', '--json'];
  await run(process.execPath, words, { env: { ...env, DATABASE_URL: databaseUrl } });
}

async function describe(root: string): Promise<Version> {
  const text = await readFile(path.join(root, 'package.json'), 'utf8');
  const { version } = JSON.parse(text) as { version: string };
  return { name: version, root, code: path.join(root, 'dist') };
}

async function git(...words: string[]): Promise<string> {
  const { stdout } = await run('git', ['-c', `safe.directory=${packageRoot}`, ...words], {
    cwd: packageRoot,
    maxBuffer: OUTPUT_BYTES_MAX,
  });
  return stdout;
}
