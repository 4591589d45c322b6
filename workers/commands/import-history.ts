/** `import history`, `import undo` and splits by hand: what imports made, and taking it back. */
import type { Command } from 'commander';
import { listSplits, undoSplit } from '../../src/core/graph/sources/split.ts';
import {
  countsOfImport,
  listImports,
  showImport,
  type UndoPlan,
  undoImport,
} from '../../src/core/graph/sources/undo-import.ts';
import { wholeNumber } from '../arguments.ts';
import { readGlobals } from '../global-options.ts';
import { countOf, printResult } from '../output.ts';
import { withDatabase } from '../with-database.ts';

export function addImportHistory(importing: Command): void {
  addHistory(importing);
  addUndo(importing);
  addSplits(importing);
}

function addHistory(importing: Command): void {
  importing
    .command('history')
    .description('list the imports of sources, latest first')
    .option('--limit <number>', 'number of imports', wholeNumber(1), 20)
    .action(async ({ limit }: { limit: number }, command: Command) => {
      const { config, json } = readGlobals(command);
      const imports = await withDatabase(config, (sql) => listImports(sql, limit));
      const lines = imports.map(
        (one) =>
          `${one.id}  ${one.source} as of ${one.asOf}, ${one.state}: ${one.rowCount} rows, ${one.newCount} new, ` +
          `${one.changedCount} changed, ${one.goneCount} ended, ${one.rejectedCount} rejected (${one.files.join(', ')})` +
          (one.problem === null ? '' : `; not built: ${one.problem}`),
      );
      printResult(json, { data: imports.map(importView) }, lines);
    });
}

function addUndo(importing: Command): void {
  importing
    .command('undo')
    .description('undo an import of a source; opt-outs stay')
    .argument('<id>', 'id of the import', wholeNumber(1))
    .option('--with-later', 'also undo the later imports that build on it')
    .option('--dry-run', 'count what would change, and change nothing')
    .action(async (id: number, _options: object, command: Command) => {
      const { config, json } = readGlobals(command);
      // `import` has the option, too, and takes it from every place in the line.
      const options = command.optsWithGlobals<UndoOptions>();
      if (options.dryRun === true) {
        const { undo } = await withDatabase(config, (sql) => showImport(sql, id));
        return printResult(json, { undo }, undo === null ? ['already undone'] : wordsOfUndo(undo));
      }
      const undone = await withDatabase(config, (sql) => undoImport(sql, id, options));
      printResult(json, { undone }, [`undone: ${undone.join(', ')}`]);
    });
}

interface UndoOptions {
  withLater?: boolean;
  dryRun?: boolean;
}

function wordsOfUndo({ later, ended, restored, without_company: without }: UndoPlan): string[] {
  return [
    `would remove ${countOf(ended, 'record')} and restore ${countOf(restored, 'record')}`,
    ...(later.length === 0 ? [] : [`would undo later imports too: ${later.join(', ')}`]),
    ...(without === 0
      ? []
      : [
          `${without === null ? 'records' : countOf(without, 'record')} of other imports would lose their company until it is imported again`,
        ]),
  ];
}

function addSplits(importing: Command): void {
  importing
    .command('splits')
    .description('list records that were split by hand, latest first')
    .option('--limit <number>', 'number of splits', wholeNumber(1), 20)
    .action(async ({ limit }: { limit: number }, command: Command) => {
      const { config, json } = readGlobals(command);
      const splits = await withDatabase(config, (sql) => listSplits(sql, limit));
      const data = splits.map(({ madeAt, undoneAt, ...split }) => ({
        ...split,
        made_at: madeAt,
        undone_at: undoneAt,
      }));
      const lines = splits.map(
        ({ id, of, from, records, undoneAt }) =>
          `${id}  ${records.length} records of ${of} ${from}${undoneAt === null ? '' : ', undone'}`,
      );
      printResult(json, { data }, lines);
    });
  importing
    .command('unsplit')
    .description('undo a split by hand: its records are joined again if they are surely the same')
    .argument('<id>', 'id of the split', wholeNumber(1))
    .action(async (id: number, _options: object, command: Command) => {
      const { config, json } = readGlobals(command);
      const done = await withDatabase(config, (sql) => undoSplit(sql, id));
      printResult(json, done, [`undone: the records are now ${done.ids.join(', ')}`]);
    });
}

function importView(one: Awaited<ReturnType<typeof listImports>>[number]) {
  return {
    import_id: one.id,
    source: one.source,
    files: one.files,
    as_of: one.asOf,
    state: one.state,
    problem: one.problem,
    started_at: one.startedAt,
    ...countsOfImport(one),
  };
}
