/** `import` and `generate`: what fills the graph. */
import { createReadStream } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { Command } from 'commander';
import { generateGraph } from '../../samples/generate/generate-graph.ts';
import type { Database } from '../../src/core/db/client.ts';
import {
  type ImportEntity,
  type ImportReport,
  importEntities,
  importRecords,
} from '../../src/core/graph/import/import-records.ts';
import { openRecords } from '../../src/core/graph/import/open-records.ts';
import { oneOf, wholeNumber } from '../arguments.ts';
import { withDatabase } from '../find-stack.ts';
import { readGlobals } from '../global-options.ts';
import { printResult, say } from '../output.ts';

export function addGraphCommands(program: Command): void {
  program
    .command('import')
    .description(
      'import records from a CSV or JSONL file, gzip too; repeating an import changes nothing',
    )
    .argument('<entity>', importEntities.join(', '), oneOf(importEntities))
    .argument('<file>', 'file to import')
    .option(
      '--rejects <file>',
      'file for bad records, with line and reason; default: FILE.rejects.jsonl',
    )
    .action(
      async (
        entity: ImportEntity,
        file: string,
        options: { rejects?: string },
        command: Command,
      ) => {
        const { config, json } = readGlobals(command);
        const rejectsFile = options.rejects ?? `${file}.rejects.jsonl`;
        const report = await withDatabase(config, (sql) =>
          importFile(sql, entity, file, rejectsFile),
        );
        const rejects = report.rejected > 0 ? rejectsFile : null;
        printResult(json, { ...report, rejects }, [
          `${report.read} read: ${report.inserted} new, ${report.updated} changed, ` +
            `${report.unchanged} unchanged, ${report.rejected} rejected${rejects === null ? '' : ` (${rejects})`}`,
          `${report.seconds.toFixed(1)} s`,
        ]);
      },
    );
  program
    .command('generate')
    .description(
      'fill an empty graph with synthetic people and companies; the same seed gives the same graph',
    )
    .requiredOption('--persons <number>', 'number of people', wholeNumber(0))
    .requiredOption('--companies <number>', 'number of companies', wholeNumber(0))
    .option('--seed <number>', 'seed', wholeNumber(0), 1)
    .action(
      async (options: { persons: number; companies: number; seed: number }, command: Command) => {
        const { config, json } = readGlobals(command);
        const started = performance.now();
        await withDatabase(config, (sql) =>
          generateGraph(sql, {
            ...options,
            onProgress: ({ step, done, total }) => say(`${step}: ${done} of ${total}`),
          }),
        );
        const seconds = (performance.now() - started) / 1000;
        printResult(json, { ...options, seconds }, [
          `${options.persons} people and ${options.companies} companies in ${seconds.toFixed(1)} s`,
        ]);
      },
    );
}

async function importFile(
  sql: Database,
  entity: ImportEntity,
  file: string,
  rejectsFile: string,
): Promise<ImportReport> {
  const rejects = openWhenWritten(rejectsFile);
  try {
    return await importRecords(sql, {
      entity,
      ...(await openRecords(createReadStream(file))),
      rejects,
      onProgress: ({ read }) => say(`${read} records read`),
    });
  } finally {
    rejects.end();
    await finished(rejects);
  }
}

/** A stream into a file that exists only when something was written to it. */
function openWhenWritten(file: string): Writable {
  let output: FileHandle | undefined;
  return new Writable({
    async construct(done) {
      // What an earlier import rejected is not true of this one.
      await rm(file, { force: true }).then(() => done(), done);
    },
    async write(chunk: Buffer, _encoding, done) {
      try {
        output ??= await open(file, 'w');
        await output.writeFile(chunk);
        done();
      } catch (error) {
        done(error as Error);
      }
    },
    async final(done) {
      await Promise.resolve(output?.close()).then(() => done(), done);
    },
  });
}
