/** `graph copy`: the local copy of the graph, which answers for lists and single calls on this machine. */
import type { Command } from 'commander';
import type { Config } from '../../src/core/config.ts';
import { openStore } from '../../src/core/context.ts';
import { buildCopy } from '../../src/core/graph-copy/build-copy.ts';
import { readCopyStatus } from '../../src/core/graph-copy/copy-status.ts';
import {
  copyBytes,
  copyFolder,
  dropCopies,
  entities,
  type Manifest,
} from '../../src/core/graph-copy/manifest.ts';
import { type PublishedCopy, readPublished } from '../../src/core/graph-copy/published.sql.ts';
import { withdrawPublished } from '../../src/core/graph-copy/published-objects.ts';
import { sayShare } from '../../src/core/graph-copy/report-copy.ts';
import { describeStorage, type StorageConfig } from '../../src/core/storage-config.ts';
import { requireOwnStore } from '../../src/jobs/batch/own-store.ts';
import { listCopyReports } from '../../src/jobs/monitor/heartbeat.ts';
import { readGlobals } from '../global-options.ts';
import { printResult, say } from '../output.ts';
import { withDatabase } from '../with-database.ts';

const RECORDS_PER_LINE = 100_000;
const MIB = 1024 * 1024;

export function addGraphCopyCommands(program: Command): void {
  const copy = program
    .command('graph')
    .description('the graph of people and companies')
    .command('copy')
    .description(
      'the local copy of the graph, which answers for lists and single calls on this machine',
    );
  addStatus(copy);
  addBuild(copy);
  copy
    .command('drop')
    .description('delete the copy and the published one; Postgres answers again')
    .action(async (_options, command: Command) => {
      const { config, json } = readGlobals(command);
      if (config.storage.provider === 's3') await dropPublished(config, config.storage);
      await dropCopies(copyFolder(config.dataDir));
      printResult(json, { dropped: true }, ['The local copy is deleted.']);
    });
}

/** Deletes the published copy, before the copy on this machine: a worker would fetch it at once. */
async function dropPublished(config: Config, storage: StorageConfig): Promise<void> {
  await withDatabase(config, async (sql) => {
    const store = await openStore(storage);
    await requireOwnStore({ sql, store }, describeStorage(storage));
    await withdrawPublished({ sql, store });
  });
}

function addStatus(copy: Command): void {
  copy
    .command('status')
    .description('check the copy; exit 1 if it does not answer')
    .action(async (_options, command: Command) => {
      const { config, json } = readGlobals(command);
      const { processes, ...status } = await withDatabase(config, async (sql) => {
        const copy = await readCopyStatus(sql, copyFolder(config.dataDir));
        const published = await readPublished(sql);
        return { ...copy, published, processes: await listCopyReports(sql) };
      });
      const { copy: found, changed, problem, published } = status;
      printResult(json, { ...status, published: published && asJson(published), processes }, [
        ...(found === null ? [] : [describe(found)]),
        ...(changed === null
          ? []
          : [`${changed} records changed since; Postgres answers for them.`]),
        ...(problem === null ? [] : [`Postgres answers: ${problem}.`]),
        ...(published === null ? [] : [describePublished(published)]),
        ...(processes.length === 0 ? [] : [`Processes, of all machines: ${sayShare(processes)}.`]),
      ]);
      if (problem !== null) process.exitCode = 1;
    });
}

function addBuild(copy: Command): void {
  copy
    .command('build')
    .description('build the copy and replace an earlier one')
    .action(async (_options, command: Command) => {
      const { config, json } = readGlobals(command);
      const started = performance.now();
      const next = { people: RECORDS_PER_LINE, companies: RECORDS_PER_LINE };
      const built = await withDatabase(config, (sql) =>
        buildCopy(sql, {
          folder: copyFolder(config.dataDir),
          onProgress(entity, records) {
            if (records < next[entity]) return;
            say(`${records} ${entity}`);
            next[entity] = records + RECORDS_PER_LINE;
          },
        }),
      );
      const seconds = (performance.now() - started) / 1000;
      printResult(json, { ...built, seconds }, [
        `${describe(built)} Built in ${seconds.toFixed(1)} s.`,
      ]);
    });
}

function describe(copy: Manifest): string {
  const mebibytes = Math.ceil(copyBytes(copy) / MIB);
  const [people, companies] = entities.map(
    (entity) => `${copy[entity].count} ${entity} with ${copy[entity].identifiers} identifiers`,
  );
  const built = `${people}, ${companies}, ${mebibytes} MiB, state ${copy.number} of the graph, of ${copy.built_at}.`;
  if (copy.delta === null) return built;
  const { number, built_at: rolled, ...delta } = copy.delta;
  const changed = `${delta.people.covered} people and ${delta.companies.covered} companies`;
  return `${built} Rolled forward to state ${number} on ${rolled}: ${changed}.`;
}

/** Names are those of the JSON. */
function asJson({ number, bytes, publishedAt, isReachable, hasWithdrawn }: PublishedCopy): object {
  const published_at = publishedAt.toISOString();
  return { number, bytes, published_at, reachable: isReachable, withdrawn: hasWithdrawn };
}

function describePublished(published: PublishedCopy): string {
  const { number, bytes, publishedAt, isReachable, hasWithdrawn } = published;
  const what = `Published for other machines: state ${number}, ${Math.ceil(bytes / MIB)} MiB, on ${publishedAt.toISOString()}.`;
  if (!isReachable) return `${what} It is from another history, or too old, and will be deleted.`;
  return hasWithdrawn ? `${what} People withdrew since, and will be removed from it.` : what;
}
