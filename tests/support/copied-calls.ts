/** Single calls that a local copy of the graph answers, as tests count, disturb and compare them. */
import type { EnrichedCall } from '../../src/core/calls/enrich-calls.ts';
import type { LocalCopy } from '../../src/core/graph-copy/local-copy.ts';
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
