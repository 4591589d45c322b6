/** Single calls that a local copy of the graph answers, as tests count, disturb and compare them. */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { EnrichedCall } from '../../src/core/calls/enrich-calls.ts';
import { hashValue } from '../../src/core/graph-copy/hash-value.ts';
import type { LocalCopy } from '../../src/core/graph-copy/local-copy.ts';
import { fileName, parseManifest, readManifestText } from '../../src/core/graph-copy/manifest.ts';
import { textOf } from './graph-readers.ts';
import { scrapeHere } from './scrape.ts';

/** An answer without buffers. */
export function shown({ outcome, charged }: EnrichedCall) {
  const { match, ...rest } = outcome;
  const records = { person: textOf(match?.person), company: textOf(match?.company) };
  const { directors, periods } = match ?? {};
  return { ...rest, ...records, directors, periods, charged };
}

/** The same of a call that gets nothing. */
export const shownError = ({ message }: Error) => ({ message });

/** Counts the calls that each reader answered while `work` ran, and those that were answered twice. */
export async function callsDuring<Done>(work: () => Promise<Done>) {
  const read = async () => {
    const scrape = await scrapeHere();
    const by = (name: string) => scrape.sum('enrich_calls_matched_total', { by: name }) ?? 0;
    const repeated = scrape.sum('enrich_calls_repeated_total') ?? 0;
    return { copy: by('copy'), postgres: by('postgres'), repeated };
  };
  const before = await read();
  const done = await work();
  const after = await read();
  return {
    done,
    copy: after.copy - before.copy,
    postgres: after.postgres - before.postgres,
    repeated: after.repeated - before.repeated,
  };
}

/** A copy whose graph changes once, when it has answered. */
export function changing(localCopy: LocalCopy, change: () => Promise<unknown>): LocalCopy {
  let isDone = false;
  return {
    ...localCopy,
    readAsKnown: (sql, work) =>
      localCopy.readAsKnown(sql, (graph) =>
        work({
          ...graph,
          people: {
            ...graph.people,
            async read(ids, options) {
              const people = await graph.people.read(ids, options);
              if (!isDone) await change();
              isDone = true;
              return people;
            },
          },
        }),
      ),
  };
}

/** Changes one bit of the entry of a person's value in the table of the copy of a folder. */
export async function changeEntry(folder: string, value: string): Promise<void> {
  const manifest = parseManifest((await readManifestText(folder)) ?? '');
  const hash = { place: 0, fingerprint: 0 };
  hashValue(value, manifest.seed, hash);
  const file = path.join(folder, manifest.folder, fileName('people', 'identifiers'));
  const table = new Uint32Array(new Uint8Array(await readFile(file)).buffer);
  const isPrint = (_: number, at: number) => at % 2 === 0 && table[at] === hash.fingerprint;
  table[table.findIndex(isPrint)] = hash.fingerprint ^ 1;
  await writeFile(file, new Uint8Array(table.buffer));
}
