/** The files of the local copy: how long they take to roll forward, to build and to open, compared with what was asked. */
import path from 'node:path';
import { buildCopy, rollForward } from '../src/core/graph-copy/build-copy.ts';
import {
  copyBytes,
  copyFolder,
  parseManifest,
  readManifestText,
} from '../src/core/graph-copy/manifest.ts';
import { openCopy } from '../src/core/graph-copy/open-copy.ts';
import { assert, must } from '../src/core/lib/assert.ts';
import { touchPeople } from './bench.sql.ts';
import type { BenchStack } from './bench-stack.ts';
import type { BenchResult } from './benchmark.ts';
import { median } from './interleave.ts';
import { secondsSince } from './measured-run.ts';

/** Of a million people, for a tenth of them, and for any number. */
const SECONDS = { build: 30, roll: 10, open: 0.1 };
const OPENINGS = 9;

/** Measures each once, and openings some times. The copy holds the graph's present state before and afterwards. */
export async function measureCopyFiles(
  { sql, objects }: BenchStack,
  { persons }: { persons: number },
): Promise<BenchResult[]> {
  const folder = copyFolder(path.dirname(objects));
  const read = async () => must(await readManifestText(folder), 'a copy');
  const changed = persons / 10;
  await touchPeople(sql, changed);
  const rolled = await timed(async () =>
    rollForward(sql, { folder, replaces: await read(), shareMax: 1 }),
  );
  const { delta } = rolled.result;
  assert(delta?.people.covered === changed, 'the delta has the people who changed');
  const built = await timed(() => buildCopy(sql, { folder }));
  const manifest = parseManifest(await read());
  const openings: number[] = [];
  for (let opening = 0; opening < OPENINGS; opening++) {
    const { seconds, result } = await timed(() => openCopy(folder, manifest));
    result.close();
    openings.push(seconds);
  }
  const share = persons / 1_000_000;
  const shared = { unit: 's', better: 'lower' as const, goal: 1, runs: [] };
  return [
    {
      ...shared,
      name: 'copy-files-roll-forward',
      ours: rolled.seconds,
      reference: SECONDS.roll * share,
      against: `${SECONDS.roll} s for 100,000 people of a million`,
      details: { changed, bytes: copyBytes(rolled.result) - copyBytes(manifest) },
    },
    {
      ...shared,
      name: 'copy-files-build',
      ours: built.seconds,
      reference: SECONDS.build * share,
      against: `${SECONDS.build} s for a million people`,
      details: {
        people: manifest.people.count,
        companies: manifest.companies.count,
        bytes: copyBytes(manifest),
      },
    },
    {
      ...shared,
      name: 'copy-files-open',
      ours: median(openings),
      reference: SECONDS.open,
      against: `${SECONDS.open * 1000} ms`,
      details: {},
    },
  ];
}

async function timed<Result>(
  work: () => Promise<Result>,
): Promise<{ seconds: number; result: Result }> {
  const started = performance.now();
  const result = await work();
  return { seconds: secondsSince(started), result };
}
