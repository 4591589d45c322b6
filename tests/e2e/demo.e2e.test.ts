/** `npm run demo` for a newcomer: interrupted, killed, run again, and correct in the end. */
import { mkdtempSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startEmbeddedPostgres } from '../../infra/embedded/embedded-postgres.ts';
import { makeSamples } from '../../samples/generate/make-samples.ts';
import type { Batch } from '../../src/client/api-types.ts';
import { connect } from '../../src/core/db/client.ts';
import { packageRoot } from '../../src/core/lib/package-root.ts';
import { buildIfStale } from './compiled-code.ts';
import { changedRows, countByKind, readEnrichedList } from './enriched-list.ts';
import {
  type Command,
  type KnownProcess,
  listTree,
  startCommand,
  startInTerminal,
  stillAlive,
} from './processes.ts';
import { waitFor } from './wait-for.ts';

/** Includes making a graph of 100,000 people, on a machine that may do much else. */
const demoMs = 300_000;
const goneMsMax = 20_000;

const root = mkdtempSync(path.join(tmpdir(), 'enrich-demo-'));
const dataDir = path.join(root, 'data');
const samples = path.join(packageRoot, 'samples');
const started: Command[] = [];

beforeAll(buildIfStale, 60_000);

afterAll(async () => {
  for (const { child } of started) child.kill('SIGKILL');
  await rm(root, { recursive: true, force: true, maxRetries: 20 });
});

it(
  'leaves no process when it is killed while it generates the graph',
  async () => {
    await stopWhen('Creating sample data', (pid) => process.kill(pid, 'SIGKILL'));
  },
  demoMs,
);

it(
  'then finds every person of the sample list that can be found, and no one else',
  async () => {
    await expectRightDemo();
  },
  demoMs,
);

it(
  'has a graph from which the files under samples/ are made again, byte for byte',
  async () => {
    const folder = await mkdtemp(path.join(root, 'samples-'));
    const server = await startEmbeddedPostgres({ dataDir });
    const sql = connect({ url: server.url, connections: 1 });
    try {
      await makeSamples(sql, folder);
    } finally {
      await sql.end();
      await server.stop();
    }
    for (const name of ['leads.csv', 'leads.truth.csv']) {
      const made = await readFile(path.join(folder, name));
      const kept = await readFile(path.join(samples, name));
      expect(made.equals(kept), `samples/${name} is as generated; make it again if not`).toBe(true);
    }
  },
  demoMs,
);

it(
  'leaves no process when it is stopped while it enriches',
  async () => {
    await stopWhen('Enriching', (pid) => process.kill(-pid, 'SIGINT'));
    await stopWhen('Enriching', (pid) => process.kill(pid, 'SIGKILL'));
  },
  demoMs,
);

it.skipIf(process.platform !== 'linux')(
  'with CI set ends in a terminal too, with the same result again on the same folder',
  async () => {
    const demo = startInTerminal(['demo', '--data-dir', dataDir], { isCi: 'true' });
    started.push(demo);
    expect(await demo.ended, demo.stdout).toBe(0);
    expect(demo.stdout).not.toContain('sign-in?link');
    await expectRightFile(path.join(dataDir, 'demo', 'leads.enriched.csv'));
  },
  demoMs,
);

it.skipIf(process.platform !== 'linux')(
  'in a terminal runs until Ctrl-C, with a link that signs in once, and prints no JSON',
  async () => {
    const demo = startInTerminal(['demo', '--data-dir', dataDir]);
    started.push(demo);
    const screen = () => demo.stdout;
    await waitFor('the link', demoMs, async () => screen().includes('until you press Ctrl-C'));
    const [, origin = '', link = ''] = /(http:\S+)\/#\/sign-in\?link=(\S+)/.exec(screen()) ?? [];
    const signIn = () =>
      fetch(`${origin}/console/session`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Origin: origin },
        body: JSON.stringify({ link }),
      });
    expect((await signIn()).status).toBe(201);
    expect((await signIn()).status).toBe(401);
    const tree = await listTree(demo.pid);
    expect(tree.filter(({ command }) => /(api|worker)\.js/.test(command))).toHaveLength(2);
    demo.child.stdin?.write('\x03');
    expect(await demo.ended, screen()).toBe(0);
    await untilGone(tree, demo);
    expect(screen()).not.toContain('{"');
  },
  demoMs,
);

function startDemo(): Command {
  const demo = startCommand(['demo', '--json', '--data-dir', dataDir]);
  started.push(demo);
  return demo;
}

/** Stops a demo when it has printed this; all its processes end soon after. */
async function stopWhen(said: string, stop: (pid: number) => void): Promise<void> {
  const demo = startDemo();
  await waitFor(`the demo says ${said}`, demoMs, async () => demo.stderr.includes(said));
  const tree = await listTree(demo.pid);
  expect(tree.some(({ command }) => command.includes('postgres'))).toBe(true);
  expect(tree.filter(({ command }) => /(api|worker)\.js/.test(command))).toHaveLength(2);
  stop(demo.pid);
  await untilGone(tree, demo);
  expect(await demo.ended).not.toBe(0);
}

/** Reports processes left at the deadline, with the last output of the demo. */
async function untilGone(tree: readonly KnownProcess[], demo: Command): Promise<void> {
  let left = tree;
  const allGone = waitFor('all processes of the demo end', goneMsMax, async () => {
    left = await stillAlive(tree);
    return left.length === 0;
  });
  await allGone.catch((cause) => {
    throw new Error(`${JSON.stringify(left)} is left; ${demo.stderr.slice(-4_000)}`, { cause });
  });
}

async function expectRightDemo(): Promise<void> {
  const demo = startDemo();
  expect(await demo.ended, demo.stderr).toBe(0);
  const batch = JSON.parse(demo.stdout) as Batch & { output: string };
  expect(batch.output).toBe(path.join(dataDir, 'demo', 'leads.enriched.csv'));
  const { total, processed, ...outcomes } = batch.rows;
  expect({ total, processed }).toEqual({ total: 5_000, processed: 5_000 });
  expect(Object.values(outcomes).reduce((sum, count) => (sum ?? 0) + (count ?? 0), 0)).toBe(5_000);
  expect(batch.credits.charged).toBe(outcomes.matched);
  await expectRightFile(batch.output);
}

async function expectRightFile(result: string): Promise<void> {
  const list = path.join(samples, 'leads.csv');
  const truth = path.join(samples, 'leads.truth.csv');
  const files = { list, truth, result };
  const rows = await readEnrichedList(files, 'expected_person_id');
  expect(rows).toHaveLength(5_000);
  expect(changedRows(rows)).toEqual([]);
  for (const [kind, counts] of countByKind(rows, 'person.id')) {
    const told = kind === 'ambiguous' ? counts.rows : 0;
    expect({ kind, ...counts }).toMatchObject({
      found: counts.expected,
      wrong: 0,
      ambiguous: told,
      other: counts.rows - counts.expected - told,
    });
  }
}
