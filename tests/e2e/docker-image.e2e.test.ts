/**
 * The image without a container engine: follows the Dockerfile by copying its files, linking its packages and
 * running its build; the resulting code migrates a database and serves.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, inject, test } from 'vitest';
import { parse } from 'yaml';
import { freePort } from '../../bench/servers/free-port.ts';
import { environmentWithOnly } from '../../src/core/config.ts';
import { connect } from '../../src/core/db/client.ts';
import { must } from '../../src/core/lib/assert.ts';
import { packageRoot } from '../../src/core/lib/package-root.ts';
import { withDatabase } from '../support/database-names.ts';
import { waitFor } from './wait-for.ts';

const CASE_MS = 120_000;

const run = promisify(execFile);
const root = mkdtempSync(path.join(tmpdir(), 'enrich-image-'));
afterAll(() => rm(root, { recursive: true, force: true }));

const fileOf = (name: string) => path.join(packageRoot, name);
const countMigrations = (of: string) => readdirSync(fileOf(`infra/migrations/${of}`)).length;
const dockerfile = readFileSync(fileOf('infra/docker/Dockerfile'), 'utf8');
const [buildStage = '', imageStage = ''] = dockerfile.split(/^FROM .*$/m).slice(1);
const ignored = readFileSync(fileOf('.dockerignore'), 'utf8').trim().split('\n');

/** The sources and the target of a COPY, below the working directory. */
function copiesOf(stage: string): { from: 'context' | 'build'; source: string; target: string }[] {
  return [...stage.matchAll(/^COPY (--from=build )?(.+)$/gm)].flatMap(([, isStage, words]) => {
    const names = must(words, 'words of COPY').split(' ');
    const target = must(names.pop(), 'target of COPY');
    const from = isStage === undefined ? ('context' as const) : ('build' as const);
    return names.map((name) => {
      const source = name.replace(/^\/app\//, '');
      return { from, source, target: target === './' ? path.basename(source) : target };
    });
  });
}

/** Copies like the engine: the context without the paths in `.dockerignore`. */
function copyInto(folder: string, stage: string, built = ''): void {
  for (const { from, source, target } of copiesOf(stage)) {
    const context = from === 'build' ? built : packageRoot;
    if (from === 'context') expect(ignored, `${source} is in the context`).not.toContain(source);
    if (source === 'node_modules') continue;
    cpSync(path.join(context, source), path.join(folder, target), { recursive: true });
  }
}

interface LockedPackage {
  dev?: boolean;
  optional?: boolean;
  devOptional?: boolean;
}

/** Links the packages that npm would install with the `--omit` options of this command. */
async function linkPackages(folder: string, command: string | undefined): Promise<void> {
  const omitted = must(command, 'an npm command').match(/(?<=--omit=)\w+/g) ?? [''];
  const [noDev, noOptional] = ['dev', 'optional'].map((kind) => omitted.includes(kind));
  const lock = JSON.parse(readFileSync(fileOf('package-lock.json'), 'utf8')) as {
    packages: Record<string, LockedPackage>;
  };
  for (const [name, { dev, optional, devOptional }] of Object.entries(lock.packages)) {
    // A package in the folder of another is linked with it.
    if (!/^node_modules\/(@[^/]+\/)?[^/]+$/.test(name)) continue;
    if ((dev && noDev) || (optional && noOptional) || (devOptional && noDev && noOptional))
      continue;
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await symlink(fileOf(name), path.join(folder, name));
  }
}

/** Resolves packages from the path of their link, not from its target. */
const asInstalled = ['--preserve-symlinks', '--preserve-symlinks-main'];

function imageEnvironment(databaseUrl: string, port: number): NodeJS.ProcessEnv {
  const set = Object.fromEntries(
    [...(/^ENV (.+)$/m.exec(imageStage)?.[1] ?? '').matchAll(/(\w+)=(\S+)/g)].map(
      ([, name = '', value]) => [name, value],
    ),
  );
  expect(set).toMatchObject({ NODE_ENV: 'production', HOST: '0.0.0.0' });
  const options = environmentWithOnly({ databaseUrl, port: String(port), logLevel: 'warn' });
  return { ...options, ...set, ENRICH_DATA_DIR: path.join(root, 'data') };
}

async function stop(child: ChildProcess): Promise<unknown> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  return (await ended)[0];
}

test(
  'the Dockerfile builds from what it copies, and its image migrates and serves',
  async () => {
    const build = path.join(root, 'build');
    await mkdir(build);
    copyInto(build, buildStage);
    await linkPackages(build, /npm ci.*/.exec(buildStage)?.[0]);
    // The linked packages were patched when they were installed.
    expect(buildStage).toContain('npm run postinstall');
    expect(buildStage).toContain('npm run -s build');
    const { scripts } = JSON.parse(readFileSync(path.join(build, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const compiler = path.join(build, 'node_modules', 'typescript', 'bin', 'tsc');
    for (const step of must(scripts.build, 'the build').split(' && ')) {
      const [tool, ...words] = step.split(' ');
      expect(tool).toBe('tsc');
      const compiled = run(process.execPath, [...asInstalled, compiler, ...words], {
        cwd: build,
        env: { ...process.env, NODE_OPTIONS: asInstalled.join(' ') },
      });
      await compiled.catch(({ stdout, stderr }) => {
        throw new Error(`the build fails: ${stdout}${stderr}`);
      });
    }

    const app = path.join(root, 'app');
    await mkdir(app);
    copyInto(app, imageStage, build);
    await linkPackages(app, /npm prune.*/.exec(buildStage)?.[0]);
    const entry = JSON.parse(/^ENTRYPOINT (.+)$/m.exec(imageStage)?.[1] ?? '[]') as string[];
    expect(entry).toEqual(['node', 'dist/workers/cli.js']);
    const admin = connect({ url: inject('serverUrl'), connections: 1 });
    const name = `image_${process.pid}`;
    await admin`create database ${admin(name)}`;
    const port = await freePort();
    const env = imageEnvironment(withDatabase(inject('serverUrl'), name), port);
    const start = [...asInstalled, ...entry.slice(1)];
    const migrated = await run(process.execPath, [...start, 'migrate', '--json'], {
      cwd: app,
      env,
    });
    const { applied } = JSON.parse(migrated.stdout) as { applied: string[] };
    // Those of the graph are applied to that of live keys and that of test keys.
    expect(applied).toHaveLength(countMigrations('app') + 2 * countMigrations('graph'));
    const [command] = JSON.parse(/^CMD (.+)$/m.exec(imageStage)?.[1] ?? '[]') as string[];
    const api = spawn(process.execPath, [...start, must(command, 'CMD')], {
      ...{ cwd: app, env, stdio: ['ignore', 'ignore', 'inherit'] },
    });
    const url = `http://127.0.0.1:${port}/readyz`;
    await waitFor('the image serves', 60_000, async () => {
      if (api.exitCode !== null) throw new Error(`it ended with ${api.exitCode}`);
      return (await fetch(url).catch(() => undefined))?.status === 200;
    });
    // Checks its health like Compose, except for the port.
    const { services } = parse(readFileSync(fileOf('infra/docker/compose.yaml'), 'utf8'), {
      merge: true,
    }) as { services: { api: { healthcheck: { test: string[] } } } };
    const [, program, ...question] = services.api.healthcheck.test;
    expect(program).toBe('node');
    const asked = (to: number) =>
      run(
        process.execPath,
        question.map((word) => word.replace(':8080/', `:${to}/`)),
      );
    await asked(port);
    await expect(asked(await freePort())).rejects.toThrow();
    expect(await stop(api)).toBe(0);
    await admin`drop database ${admin(name)} with (force)`;
    await admin.end();
  },
  CASE_MS,
);
