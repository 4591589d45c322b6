/**
 * `npm run drill:restore`: work, a backup while it goes on, more work, the machine destroyed, a restore, the doctor, the
 * audit. Then every list that the backup knows must have each row once, right, and at its price.
 */
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parse } from 'csv-parse/sync';
import type { Batch } from '../../src/client/client.ts';
import type { Diagnosis } from '../../src/jobs/backup/doctor.ts';
import { Random } from '../chaos/random.ts';
import { parseOptions } from '../parse-options.ts';
import { must, run, startUp, type Up } from './commands.ts';

const PEOPLE = 3_000;
const CREDITS = 1_000_000;
const USAGE = 'usage: npm run drill:restore -- [--seed N] [--minutes M] [--mutant no-doctor]';
const LIST_MS_MAX = 180_000;

interface Options {
  seed: number;
  minutes: number;
  mutant: string | null;
}

/** A list that was uploaded: rows with the numbers of people, of whom those above `PEOPLE` are unknown. */
interface Sent {
  name: string;
  people: number[];
}

interface Service {
  folder: string;
  key: string;
}

interface Totals {
  rounds: number;
  lists: number;
  rows: number;
  objects_lost: number;
  reruns: number;
  violations: number;
}

async function main(): Promise<void> {
  const options = readOptions();
  const random = new Random(options.seed);
  const work = await mkdtemp(path.join(tmpdir(), 'enrich-drill-'));
  const totals = { rounds: 0, lists: 0, rows: 0, objects_lost: 0, reruns: 0, violations: 0 };
  try {
    const base = await prepare(path.join(work, 'base'));
    const until = Date.now() + options.minutes * 60_000;
    do {
      totals.rounds++;
      await runRound(path.join(work, String(totals.rounds)), base, { random, options, totals });
    } while (Date.now() < until);
  } finally {
    await remove(work);
  }
  process.stdout.write(`${JSON.stringify({ seed: options.seed, ...totals })}\n`);
  process.exitCode = totals.violations === 0 ? 0 : 1;
}

const options = {
  seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
  minutes: { type: 'string', default: '4' },
  mutant: { type: 'string' },
} as const;

function readOptions(): Options {
  return parseOptions(USAGE, { options }, ({ values }) => {
    const { mutant = null } = values;
    const seed = Number(values.seed);
    const minutes = Number(values.minutes);
    const isKnown = mutant === null || mutant === 'no-doctor';
    return Number.isSafeInteger(seed) && minutes > 0 && isKnown ? { seed, minutes, mutant } : null;
  });
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Makes the data folder that every round begins with: people, an account, a key. */
async function prepare(folder: string): Promise<Service> {
  const people = path.join(path.dirname(folder), 'people.jsonl');
  const lines = Array.from({ length: PEOPLE }, (_, n) =>
    JSON.stringify({ id: n + 1, name: `Name${n + 1}`, email: `p${n + 1}@drill.example` }),
  );
  await writeFile(people, `${lines.join('\n')}\n`);
  await must(folder, 'migrate');
  await must(folder, 'import', 'persons', people);
  const credits = String(CREDITS);
  const made = ['account', 'create', '--name', 'Drill', '--credits', credits];
  const { account_id: account } = await must<{ account_id: string }>(folder, ...made);
  const { key } = await must<{ key: string }>(
    folder,
    'key',
    'create',
    '--mode',
    'live',
    '--account',
    account,
  );
  return { folder, key };
}

async function runRound(
  folder: string,
  base: Service,
  { random, options, totals }: { random: Random; options: Options; totals: Totals },
): Promise<void> {
  const first: Service = { folder: path.join(folder, 'first'), key: base.key };
  const second: Service = { folder: path.join(folder, 'second'), key: base.key };
  await cp(base.folder, first.folder, { recursive: true });
  const file = path.join(folder, 'backup');
  const up = await startUp(first.folder);
  const sent: Sent[] = [];
  try {
    sent.push(...(await sendLists(up, first, random, random.between(3, 6))));
    await delay(random.between(0, 2_000));
    const encrypt = random.chance(0.5) ? ['--encrypt'] : [];
    await must(first.folder, 'backup', file, ...encrypt);
    sent.push(...(await sendLists(up, first, random, random.between(1, 3))));
    await delay(random.between(0, 2_000));
  } finally {
    await up.kill();
  }
  say(`round ${totals.rounds}: destroyed with ${sent.length} lists`);
  await must(second.folder, 'restore', file);
  if (random.chance(0.7)) totals.objects_lost += await mixObjects(first, second, random);
  await remove(first.folder);
  if (options.mutant !== 'no-doctor') totals.reruns += await runDoctor(second.folder);
  const again = await startUp(second.folder);
  try {
    await waitForLists(again, second);
    // Lists that had not ended when the doctor came.
    if (options.mutant !== 'no-doctor') {
      totals.reruns += await runDoctor(second.folder);
      await waitForLists(again, second);
    }
    await check(again, second, sent, totals);
  } finally {
    await again.stop();
  }
  const audit = await run<{ checks: { name: string; violations: number }[] }>(
    second.folder,
    ...['audit', '--deep'],
  );
  for (const { name, violations } of audit.value?.checks ?? []) {
    if (violations > 0) violate(totals, `${name}: ${violations}`);
  }
  if (audit.code !== 0 && audit.value === null) violate(totals, `audit: ${audit.stderr}`);
  await rm(folder, { recursive: true });
}

function violate(totals: Totals, what: string): void {
  totals.violations++;
  say(`VIOLATION in round ${totals.rounds}: ${what}`);
}

async function sendLists(up: Up, { key }: Service, random: Random, count: number): Promise<Sent[]> {
  const sent: Sent[] = [];
  for (let n = 0; n < count; n++) {
    const rows = random.between(50, 9_000);
    const people = Array.from({ length: rows }, () => random.between(1, PEOPLE * 1.3));
    const name = `list-${random.between(0, 1e9)}`;
    const csv = `Email\n${people.map((one) => `p${one}@drill.example\n`).join('')}`;
    const options = new URLSearchParams({ operation: 'people.enrich', name, fields: 'id,email' });
    await call(up, key, `/v1/batches?${options}`, csv);
    sent.push({ name, people });
    await delay(random.between(0, 300));
  }
  return sent;
}

/** A killed process may still be ending, and its last file appear in a folder that was just emptied. */
async function remove(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}

/** The files of the destroyed machine instead of those of the backup: newer ones, and some of them gone. */
async function mixObjects(first: Service, second: Service, random: Random): Promise<number> {
  const from = path.join(first.folder, 'objects');
  const to = path.join(second.folder, 'objects');
  await cp(from, to, { recursive: true });
  let lost = 0;
  for (const name of (await readdir(to, { recursive: true })).toSorted()) {
    if (!/parts\/[^/]+\.csv$/.test(name) || !random.chance(0.2)) continue;
    await rm(path.join(to, name));
    lost++;
  }
  return lost;
}

async function runDoctor(folder: string): Promise<number> {
  const { value, stderr } = await run<Diagnosis>(folder, 'doctor', '--fix');
  if (value === null) throw new Error(`enrich doctor: ${stderr}`);
  return value.findings.filter(({ action }) => action === 'rerun').length;
}

/** Calls the API, with a list when there is a body. Returns the text of the response; throws when it is refused. */
async function call(up: Up, key: string, address: string, body?: string): Promise<string> {
  const response = await fetch(up.url + address, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'text/csv' },
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${address}: ${text}`);
  return text;
}

async function listAll(up: Up, key: string): Promise<Batch[]> {
  const page = JSON.parse(await call(up, key, '/v1/batches?limit=100')) as { data: Batch[] };
  return page.data;
}

async function waitForLists(up: Up, { key }: Service): Promise<void> {
  const until = Date.now() + LIST_MS_MAX;
  while (Date.now() < until) {
    const lists = await listAll(up, key);
    if (lists.every(({ state }) => ['completed', 'failed', 'cancelled'].includes(state))) return;
    await delay(300);
  }
  throw new Error('a list did not end');
}

/** Compares every list that the backup knows, and the wallet, with what was sent. */
async function check(up: Up, { key }: Service, sent: Sent[], totals: Totals): Promise<void> {
  const lists = await listAll(up, key);
  let spent = 0;
  for (const { name, people } of sent) {
    const own = lists.filter((one) => one.name.split(' ')[0] === name);
    // The backup is from before.
    if (own.length === 0) continue;
    totals.lists++;
    const expected = people.map((one) => (one <= PEOPLE ? String(one) : ''));
    const readable: string[][] = [];
    for (const { id } of own) {
      // A result whose files are gone, or break off.
      const text = await call(up, key, `/v1/batches/${id}/results`).catch(() => '');
      if (text === '') continue;
      const rows = parse(text, { columns: true }) as Record<string, string>[];
      readable.push(rows.map((row) => row['person.id'] ?? ''));
    }
    if (readable.length !== 1) violate(totals, `${name} has ${readable.length} results`);
    else if (JSON.stringify(readable[0]) !== JSON.stringify(expected)) {
      violate(totals, `${name} has wrong rows`);
    }
    totals.rows += expected.length;
    spent += expected.filter((id) => id !== '').length;
  }
  const me = await call(up, key, '/v1/me');
  const { credits } = JSON.parse(me) as { credits: { remaining: number } };
  if (credits.remaining !== CREDITS - spent) {
    violate(totals, `${CREDITS - spent} credits expected, ${credits.remaining} left`);
  }
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
  process.exitCode = 2;
}
