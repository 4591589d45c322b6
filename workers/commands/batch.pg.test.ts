/** The client side of the command line against the real API: what it sends, prints and writes. */
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { must } from '../../src/core/lib/assert.ts';
import type { BatchView } from '../../src/jobs/batch/batch-view.ts';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { printedBy } from '../../tests/support/printed-by.ts';
import { crowd } from '../../tests/support/small-graph.ts';
import { explainError } from '../explain-error.ts';

let pipeline: Pipeline;
let caller: Caller;
let folder: string;
let file: string;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '2' });
  await importGraph(pipeline.sql, { persons: crowd(5) });
  caller = await pipeline.account(100);
  folder = await mkdtemp(path.join(tmpdir(), 'enrich-cli-'));
  file = path.join(folder, 'leads.csv');
  vi.stubEnv('ENRICH_URL', pipeline.url);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await pipeline.close();
  await rm(folder, { recursive: true, force: true });
});

const list =
  'who,mail\na,p1@list.example\nb,nobody@list.example\nc,p1@list.example\nd,no address\n';

/** Runs a command while the workers work; returns what it printed on stdout. */
function enrich(...words: string[]): Promise<string> {
  vi.stubEnv('ENRICH_API_KEY', caller.key);
  return printedBy(['batch', ...words], pipeline.runUntilIdle);
}

const json = async (...words: string[]) =>
  JSON.parse(await enrich('--json', ...words)) as BatchView & { output: string };

const people = ['--operation', 'people.enrich', '--fields', 'id'];

async function uploaded(): Promise<string> {
  await writeFile(file, list);
  return (await json('run', file, ...people)).id;
}

test('a workbook comes back as a workbook, and a compressed list compressed', async () => {
  await writeFile(file, list);
  const workbook = path.join(folder, 'from-csv.xlsx');
  await json('run', file, ...people, '-o', workbook);
  // The magic number of a zip archive.
  expect((await readFile(workbook)).subarray(0, 2).toString()).toBe('PK');
  const again = await json('run', workbook, ...people);
  expect(again.output).toBe(path.join(folder, 'from-csv.enriched.xlsx'));
  expect((await readFile(again.output)).subarray(0, 2).toString()).toBe('PK');
  const packed = path.join(folder, 'packed.csv.gz');
  await writeFile(packed, gzipSync(list));
  const { id, output } = await json('run', packed, ...people);
  expect(output).toBe(path.join(folder, 'packed.enriched.csv.gz'));
  const text = gunzipSync(await readFile(output)).toString();
  expect(text).toBe((await pipeline.results(caller, id)).text);
});

test('a file that is absent is named, and so is a service that does not respond', async () => {
  const absent = path.join(folder, 'absent.csv');
  await expect(enrich('run', absent, ...people)).rejects.toThrow(`no such file or directory`);
  await expect(enrich('run', absent, ...people)).rejects.toThrow(absent);
  const closed = createServer().listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const { port } = closed.address() as AddressInfo;
  await once(closed.close(), 'close');
  vi.stubEnv('ENRICH_URL', `http://127.0.0.1:${port}`);
  const asked = enrich('status', '01890000-0000-7000-8000-000000000000');
  await expect(asked).rejects.toThrow(`No response from http://127.0.0.1:${port} (ECONNREFUSED)`);
  vi.stubEnv('ENRICH_URL', pipeline.url);
});

test('a list is sent with the name of its file, whatever characters it has', async () => {
  const odd = path.join(folder, 'Länder "neu"; a=b.csv');
  await writeFile(odd, list);
  const { name } = await json('run', odd, ...people);
  // HTML's encoding of a form leaves a quote as its percent code.
  expect(name).toBe('Länder %22neu%22; a=b.csv');
});

test('a folder in place of a list is refused by name, and no service is blamed', async () => {
  const error = await enrich('run', folder, ...people).catch((thrown: unknown) => thrown);
  expect(explainError(error).message).toBe(
    'The file cannot be read: it is a folder, or was changed while it was sent.',
  );
});

test('rows that could not be used are told with their lines, and what would help', async () => {
  await writeFile(file, 'phone\n020 7946 0958\n+1 603 271 2632\n020 7946 0959\n');
  const printed = await enrich('run', file, ...people);
  expect(printed).toContain(
    '2 rows: phone_without_country (lines 2, 4); name their country, such as --default-region GB',
  );
});

test('rows without an identifier are told what else could find them, in text alone', async () => {
  await writeFile(file, 'Name,Company,Email\n,Acme Ltd,\nAda Example,Acme Ltd,\n');
  const printed = await enrich('run', file, ...people);
  expect(printed).toContain(
    '2 rows: no_identifier (lines 2, 3); run those with a name and a company or place again with --match likely, those about a company with --operation companies.enrich',
  );
  expect(await enrich('--json', 'run', file, ...people)).not.toContain('run those');
  const byName = await enrich('run', file, ...people, '--match', 'likely');
  expect(byName).toContain(
    '1 row: empty_name (line 2); run those about a company with --operation companies.enrich',
  );
  await writeFile(file, 'Email\n\n""\n');
  expect(await enrich('run', file, ...people)).toMatch(/no_identifier \(line \d\)\n/);
});

test('run writes the enriched list beside the list and prints the batch', async () => {
  await writeFile(file, list);
  const batch = await json('run', file, ...people, '--map', 'email=mail', '--max-credits', '9');
  expect(batch).toMatchObject({
    name: 'leads.csv',
    state: 'completed',
    mapping: { email: [{ column: 2, reason: 'chosen' }] },
    rows: { total: 4, matched: 2, no_match: 1, invalid: 1 },
    credits: { charged: 2, max: 9 },
    output: path.join(folder, 'leads.enriched.csv'),
  });
  expect(await readFile(batch.output, 'utf8')).toBe(
    (await pipeline.results(caller, batch.id)).text,
  );
  expect((await readdir(folder)).filter((name) => name.endsWith('.part'))).toEqual([]);
});

test('run passes on how the list is written and what is to be paid', async () => {
  await writeFile(file, Buffer.from('Jos\xe9|p1@list.example\nx|p1@list.example\n', 'latin1'));
  const options = ['--encoding', 'latin1', '--delimiter', '|', '--no-header', '--dedupe'];
  const output = path.join(folder, 'out.csv');
  const more = ['--map', 'email=2', '--map', 'person_name=1', '--require-agreement', '-o', output];
  const batch = await json('run', file, ...people, ...options, ...more, '--name', 'By hand');
  expect(batch).toMatchObject({
    name: 'By hand',
    dialect: { encoding: 'windows-1252', delimiter: '|', header: null },
    rows: { total: 2, matched: 1, duplicate: 1 },
    output,
  });
  const [stored] = await pipeline.sql`
    select dedupe, require_agreement from batches where id = ${batch.id}`;
  expect(stored).toEqual({ dedupe: true, requireAgreement: true });
  expect(await readFile(output, 'utf8')).toMatch(/^column_1\|column_2\|match\.status.*\nJosé\|p1@/);
});

test('run prints what was guessed, and the option that corrects it', async () => {
  const russian = [0xc8, 0xe2, 0xe0, 0xed, 0x20, 0xc8, 0xe2, 0xe0, 0xed, 0xee, 0xe2];
  const rows = Buffer.concat([
    Buffer.from('who,mail\n'),
    Buffer.from(russian),
    Buffer.from(',x@a.example\n'),
  ]);
  await writeFile(file, rows);
  expect(await enrich('run', file, ...people)).toMatch(
    /^Check {6}read as windows-1251; .*--encoding windows-1251$/m,
  );
  expect(await readFile(path.join(folder, 'leads.enriched.csv'), 'utf8')).toContain('Иван Иванов,');
  await writeFile(file, Buffer.from(`Leads\n${list}`));
  expect(await enrich('run', file, ...people)).toMatch(
    /^Check {6}columns named by row 2; .*--header-row/m,
  );
  const none = await enrich('run', file, ...people, '--header-row', '2');
  expect(none).not.toMatch(/^Check/m);
});

test('list prints the latest lists with their matches', async () => {
  const id = await uploaded();
  const [latest = ''] = (await enrich('list')).split('\n');
  expect(latest).toContain(id);
  expect(latest).toContain('completed  2 of 4 rows matched  leads.csv');
});

test('results --outcomes writes only rows with these outcomes', async () => {
  const id = await uploaded();
  const output = path.join(folder, 'rest.csv');
  await json('results', id, '-o', output, '--outcomes', 'no_match,invalid');
  const lines = (await readFile(output, 'utf8')).trimEnd().split('\n');
  expect(lines.map((line) => line.split(',')[0])).toEqual(['who', 'b', 'd']);
});

test('run --hold waits for a price and a start', async () => {
  await writeFile(file, list);
  const held = await json('run', file, ...people, '--hold');
  expect(held).toMatchObject({ state: 'ready', rows: { total: 4, processed: 0 } });
  expect(held).not.toHaveProperty('output');
  const quoted = await json('quote', held.id);
  expect(quoted.quote).toMatchObject({
    state: 'done',
    credits: 3,
    credits_is: 'at_most',
    affordable: true,
  });
  expect(await enrich('quote', held.id)).toBe('at most 3 credits\n');
  expect(await json('start', held.id)).toMatchObject({ state: 'queued' });
  expect(await json('status', held.id)).toMatchObject({ state: 'completed' });
  await expect(enrich('quote', held.id)).rejects.toThrow(/hold=true/);
});

test('results writes any form, whole or not at all', async () => {
  const id = await uploaded();
  for (const format of ['csv', 'csv-safe', 'jsonl', 'xlsx']) {
    const output = path.join(folder, `result.${format}`);
    const said = await json('results', id, '-o', output, '--format', format);
    expect(said).toEqual({ output, complete: true });
    const response = await pipeline.call(caller, `/v1/batches/${id}/results?format=${format}`);
    expect(await readFile(output)).toEqual(Buffer.from(await response.arrayBuffer()));
  }
  const output = path.join(folder, 'none.csv');
  await expect(enrich('results', id, '-o', output, '--format', 'pdf')).rejects.toThrow(/format/);
  expect(await readdir(folder)).not.toContain('none.csv');
});

test('failures names the rows that could not be used, and rerun runs them again', async () => {
  const id = await uploaded();
  expect(await json('failures', id)).toEqual({ not_an_email: { rows: 1, lines: [5] } });
  expect(await enrich('failures', id)).toBe('not_an_email: 1 row (line 5)\n');
  await expect(enrich('rerun', id)).rejects.toThrow(/has the outcome error/);
  const again = await json('rerun', id, '--outcomes', 'no_match,invalid');
  expect(await json('status', again.id)).toMatchObject({
    state: 'completed',
    rows: { total: 2, no_match: 1, invalid: 1 },
  });
  await writeFile(file, 'mail\np1@list.example\n');
  const clean = await json('run', file, ...people);
  expect(await enrich('failures', clean.id)).toBe('No unusable rows.\n');
});

test('pause, resume and cancel say what the batch is then', async () => {
  const id = await pipeline.upload(caller, list, { operation: 'people.enrich' });
  await pipeline.queues.runNext(pipeline.context, 'split-batch');
  // The workers work while a command runs: with a wake-up they could be done before it is paused.
  pipeline.queues.waiting = [];
  expect(await json('pause', id)).toMatchObject({ state: 'paused', reason: 'user' });
  expect(await json('resume', id)).toMatchObject({ reason: null });
  await pipeline.runUntilIdle();
  await expect(enrich('cancel', id)).rejects.toThrow(/already ended/);
  const other = await pipeline.upload(caller, list, { operation: 'people.enrich' });
  await pipeline.queues.runNext(pipeline.context, 'split-batch');
  pipeline.queues.waiting = [];
  // The workers may have ended it before the command reads it again.
  expect(await json('cancel', other)).toMatchObject({
    state: expect.stringMatching(/^cancell(ing|ed)$/),
  });
  expect(await json('status', other)).toMatchObject({
    state: 'cancelled',
    rows: { not_processed: 4 },
  });
});

test('run ends when the key has spent its day, and says when it goes on', async () => {
  const unbounded = caller;
  caller = await pipeline.boundedAccount(100, 1);
  try {
    await writeFile(file, list);
    await expect(enrich('run', file, ...people)).rejects.toThrow(
      /its credits of the day.*midnight/,
    );
  } finally {
    caller = unbounded;
  }
});

test('run ends when the credits do, keeps what is done, and says the way on', async () => {
  const rich = caller;
  caller = await pipeline.account(1);
  try {
    await writeFile(file, list);
    const output = path.join(folder, 'poor.csv');
    const running = enrich('run', file, ...people, '-o', output);
    await expect(running).rejects.toThrow(/wallet is empty.*enrich batch results/);
    expect(await readdir(folder)).not.toContain('poor.csv');
  } finally {
    caller = rich;
  }
});

test('run ends at the limit of the list, and cap continues it', async () => {
  await writeFile(file, list);
  const run = enrich('run', file, ...people, '--max-credits', '1');
  const refusal = await run.then(String, String);
  expect(refusal).toMatch(/limit of 1 credit is used up.*enrich batch results/);
  const id = must(/enrich batch cap ([\w-]+) CREDITS/.exec(refusal)?.[1], 'the id');
  await expect(enrich('resume', id)).rejects.toThrow(/Raise them/);
  await expect(enrich('cap', id, '0')).rejects.toThrow(/at least 1/);
  await expect(enrich('cap', id, '-1')).rejects.toThrow(/whole number, or none/);
  await expect(enrich('cap', id, 'many')).rejects.toThrow(/whole number, or none/);
  expect(await json('cap', id, 'none')).toMatchObject({ reason: null, credits: { max: null } });
  expect(await json('status', id)).toMatchObject({ state: 'completed', credits: { charged: 2 } });
});

test('run of a list that cannot be read fails with the line', async () => {
  await writeFile(file, `email\n${'a@b.example\n'.repeat(9_000)}${'x'.repeat(3_000_000)}\n`);
  await expect(enrich('run', file, ...people)).rejects.toThrow(/Line 9002/);
  await writeFile(file, '');
  await expect(enrich('run', file, ...people)).rejects.toThrow(/empty/);
});

test('ambiguous writes the candidates, and decide matches those that are left in the file', async () => {
  const persons = [81, 82].map((id) => ({ id, name: 'Ilka', surname: 'Quast', email: '' }));
  await importGraph(pipeline.sql, { persons });
  await writeFile(file, 'name\nIlka Quast\nQuast Ilka\n');
  const options = ['--operation', 'people.enrich', '--match', 'likely', '--fields', 'id'];
  const { id } = await json('run', file, ...options, '-o', path.join(folder, 'out.csv'));
  const candidates = path.join(folder, 'candidates.csv');
  expect(await enrich('ambiguous', id, '-o', candidates)).toContain('2 rows:');
  const lines = (await readFile(candidates, 'utf8')).trim().split('\n');
  expect(lines.map((line) => line.split(',').slice(0, 2).join())).toEqual([
    ...['row,id', '1,81', '1,82', '2,81', '2,82'],
  ]);
  await writeFile(candidates, [lines[0], lines[2], lines[3]].join('\n'));
  const decided = await json('decide', id, candidates);
  expect(await pipeline.batch(caller, decided.id)).toMatchObject({
    rerun_of: id,
    state: 'completed',
    credits: { charged: 2 },
  });
  await expect(enrich('decide', id, candidates)).rejects.toThrow(/row 1 is already matched/);
  expect(await enrich('ambiguous', id, '-o', candidates)).toBe('No ambiguous rows.\n');
});
