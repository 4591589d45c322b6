/**
 * Runs the commands of the documentation in order, as a reader would: placeholders are filled in from the
 * output of earlier commands.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { environmentWithOnly } from '../../src/core/config.ts';
import { packageRoot } from '../../src/core/lib/package-root.ts';
import { buildIfStale } from './compiled-code.ts';
import { writeNewcomerFiles } from './newcomer-files.ts';
import { runJson } from './processes.ts';
import { type Service, startService } from './service.ts';

const run = promisify(execFile);
const pages = [
  'docs/getting-started.md',
  'README.md',
  'docs/csv-guide.md',
  'docs/search-guide.md',
  'docs/test-mode.md',
  'docs/api.md',
];
/** Commands that are tested elsewhere, or only make sense in a terminal. */
const leftOut = /^(npm |alias |cd )/;

const root = mkdtempSync(path.join(tmpdir(), 'enrich-documents-'));
const dataDir = path.join(root, 'data');
let service: Service;

beforeAll(async () => {
  await buildIfStale();
  service = await startService(dataDir);
  await writeNewcomerFiles(root);
}, 120_000);

afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  await rm(root, { recursive: true, force: true });
}, 60_000);

/** Values from the output of earlier commands, by placeholder. */
let told: Map<string, string>;
/** The key of the last `export`. */
let current: string;
/** The exports of the page so far: each command has a shell of its own. */
let exported: string;

beforeEach(async () => {
  await writeFile(
    path.join(root, 'leads.csv'),
    'Name;Work Email;Private Email;Phone;Land\nAda Example;ada@example.com;;+442079460000;GB\n',
  );
  const words = ['--name', 'Reader', '--credits', '10000'];
  const about = ['--data-dir', dataDir];
  const account = await runJson<{ account_id: string }>(['account', 'create', ...words, ...about]);
  const forAccount = ['--account', account.account_id, '--mode', 'live'];
  const create = ['key', 'create', ...forAccount, ...about];
  const { key } = await runJson<{ key: string }>(create);
  const operator = await runJson<{ key: string }>([...create, '--scopes', 'admin']);
  told = new Map([
    ['ACCOUNT_ID', account.account_id],
    ['svc_live_...', key],
    ['$ADMIN_KEY', operator.key],
  ]);
  current = key;
  exported = '';
});

it.each(pages)(
  'every command of %s succeeds',
  async (page) => {
    const commands = commandsOf(readFileSync(path.join(packageRoot, page), 'utf8'));
    expect(commands.length).toBeGreaterThan(0);
    for (const command of commands) {
      // Pages share the service, and an email address has one account.
      if (command.startsWith('enrich account create'))
        told.set('you@example.com', `you-${pages.indexOf(page)}@example.com`);
      // Ids of people who do not exist are fine here; a refused command is not.
      const { stdout, stderr } = await type(command);
      expect(stdout, command).not.toMatch(/"status":\s*(400|401|403|415|422|5\d\d)\b/);
      remember(command, `${stdout}\n${stderr}`);
    }
  },
  360_000,
);

/** Indented blocks are commands; a line that ends with a backslash continues. */
function commandsOf(page: string): string[] {
  const blocks = page.split('\n').filter((line) => line.startsWith('    '));
  return blocks
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /^(enrich|curl|api|printf|export) /.test(line) && !leftOut.test(line));
}

async function type(command: string): Promise<{ stdout: string; stderr: string }> {
  const filled = [...told].reduce((text, [name, value]) => text.replaceAll(name, value), command);
  const script = `
    set -euo pipefail
    enrich() { node ${path.join(packageRoot, 'dist', 'workers', 'cli.js')} "$@"; }
    curl() { command curl -sS "$@"; }
    api() { curl -H "Authorization: Bearer $ENRICH_API_KEY" -G "http://127.0.0.1:8080/v1/$@"; }
    ${exported}
    ${filled}`.replaceAll('http://127.0.0.1:8080', service.up.url);
  if (command.startsWith('export ')) exported += `${filled}\n`;
  const env = environmentWithOnly({ dataDir, logLevel: 'warn', apiKey: current });
  return run('bash', ['-c', script], { cwd: root, env }).catch((error: unknown) => {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${filled}\n${stdout}${stderr}`);
  });
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/;

/** Extracts values for later commands from a response. */
function remember(command: string, answer: string): void {
  const exported = /^export ENRICH_API_KEY=(svc_(?:live|test)_\.\.\.)$/.exec(command)?.[1];
  if (exported !== undefined) current = told.get(exported) ?? '';
  const id = uuid.exec(answer)?.[0];
  const meant = [
    [/^enrich account create/, 'ACCOUNT_ID'],
    [/^enrich batch run|v1\/batches$/, 'BATCH_ID'],
    [/^enrich schedule create/, 'SCHEDULE_ID'],
    [/^enrich export '/, 'EXPORT_ID'],
  ] as const;
  for (const [form, name] of meant) if (id !== undefined && form.test(command)) told.set(name, id);
  const key = /svc_(live|test)_\w+/.exec(answer);
  if (key !== null && command.startsWith('enrich key create'))
    told.set(`svc_${key[1]}_...`, key[0]);
}
