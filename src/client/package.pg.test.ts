/** The client as a package: packed, installed and type-checked in a project of its own, against the real API. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { smallGraph } from '../../tests/support/small-graph.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');

let pipeline: Pipeline;
let folder: string;
beforeAll(async () => {
  pipeline = await openPipeline();
  await importGraph(pipeline.sql, smallGraph);
  folder = await mkdtemp(path.join(tmpdir(), 'client-package-'));
});
afterAll(async () => {
  await pipeline.close();
  await rm(folder, { recursive: true, force: true });
});

const program = `
import { createClient, type Person, ProblemError } from 'enrichment-pipeline-client';
const client = createClient(process.argv[2] ?? '', process.argv[3] ?? '');
const query = { email: 'ada@acme.example' };
const once = { idempotencyKey: 'the-same-call' };
const { data, meta } = await client.enrichPerson(query, once);
const person: Person = data;
// Every field of a whole record is there for the compiler too; chosen fields may be absent.
const surname: string = person.surname;
const chosen = await client.enrichPerson({ ...query, fields: 'name' });
// @ts-expect-error
const absent: string = chosen.data.surname;
const again = await client.enrichPerson(query, once);
const charged: number = meta.credits_charged;
const missed = await client.enrichPerson({ email: 'void@void.example' }).catch((error: unknown) => error);
const me = await client.getMe();
console.log(JSON.stringify({
  email: person.workEmail,
  charged,
  same: JSON.stringify(again.data) === JSON.stringify(data),
  code: missed instanceof ProblemError ? missed.code : null,
  remaining: me.credits.remaining,
}));
`;

test('is packed, installed without the service, and typed', async () => {
  const packed = path.join(folder, 'packed');
  const tsc = path.join(root, 'node_modules', '.bin', 'tsc');
  await run(tsc, ['-p', path.join(root, 'src/client'), '--outDir', packed]);
  await cp(path.join(root, 'src/client/package'), packed, { recursive: true });
  const { stdout } = await run('npm', ['pack', '--json', packed], { cwd: folder });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  const settings = { target: 'es2023', module: 'nodenext', strict: true, types: ['node'] };
  const typeRoots = [path.join(root, 'node_modules/@types')];
  await writeFile(
    path.join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: { ...settings, typeRoots, rootDir: '.', outDir: 'out' },
      files: ['program.ts'],
    }),
  );
  await writeFile(path.join(folder, 'package.json'), '{ "type": "module", "private": true }');
  await writeFile(path.join(folder, 'program.ts'), program);
  await run('npm', ['install', '--offline', '--no-audit', path.join(folder, filename)], {
    cwd: folder,
  });
  await run(tsc, ['-p', folder]).catch(({ stdout }) => expect(stdout).toBe(''));

  const caller = await pipeline.account(10);
  const printed = await run('node', [
    path.join(folder, 'out/program.js'),
    pipeline.url,
    caller.key,
  ]);
  expect(JSON.parse(printed.stdout)).toEqual({
    email: 'ada@acme.example',
    charged: 1,
    same: true,
    code: 'no_match',
    remaining: 8,
  });
  // Misuse is found when the program is compiled.
  await writeFile(path.join(folder, 'program.ts'), program.replace('email:', 'mail:'));
  await expect(run(tsc, ['-p', folder])).rejects.toThrow();
});

test('has the version of the service', async () => {
  const versionOf = async (file: string) =>
    JSON.parse(await readFile(path.join(root, file), 'utf8')).version;
  expect(await versionOf('src/client/package/package.json')).toBe(await versionOf('package.json'));
});
