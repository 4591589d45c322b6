/** `batch ambiguous|decide`: the rows that several records fit, as a file, and the decisions about them. */
import { access, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { Calls } from '../../src/client/api-types.ts';
import type { Client } from '../../src/client/client.ts';
import { encodeCell } from '../../src/formats/csv/quote-cell.ts';
import { readGlobals } from '../global-options.ts';
import { openClient } from '../open-client.ts';
import { countOf, printResult } from '../output.ts';
import { retryWhenLost } from '../retry-while-unavailable.ts';
import { describeBatch } from './describe-batch.ts';

type Row = Calls['GET /v1/batches/{id}/ambiguous']['response']['data'][number];

const columns = ['row', 'id', 'probability', 'evidence', 'record', 'list'];

/** Adds the commands to `batch`. */
export function addDecisionCommands(batch: Command): void {
  batch
    .command('ambiguous')
    .description('write the rows that several records fit, one line for each candidate')
    .argument('<id>', 'batch id')
    .requiredOption('-o, --output <file>', 'CSV file to write')
    .action(async (id: string, { output }: { output: string }, command: Command) => {
      const { config, json } = readGlobals(command);
      const rows = await readAll(await openClient(config), id);
      const lines = rows.flatMap((row) => linesOf(row));
      await writeFile(output, [columns, ...lines].map(toLine).join(''));
      const hint = `Delete the lines of the wrong candidates, then: enrich batch decide ${id} ${output}`;
      const told =
        rows.length === 0
          ? ['No ambiguous rows.']
          : [`${countOf(rows.length, 'row')}: ${output}`, hint];
      printResult(json, { output, rows: rows.length }, told);
    });
  batch
    .command('decide')
    .description('match ambiguous rows with the records that a file chooses; each match is charged')
    .argument('<id>', 'batch id')
    .argument('<file>', 'CSV with the columns row and id; the id `none` for no candidate')
    .option('--hold', 'wait for `batch quote` and `batch start`')
    .action(
      async (id: string, file: string, { hold = false }: { hold?: boolean }, command: Command) => {
        const { config, json } = readGlobals(command);
        // Names the file, which the upload's own error does not.
        await access(file);
        const client = await openClient(config);
        const made = await retryWhenLost((once) => client.decideRows(id, file, hold, once));
        printResult(json, made, describeBatch(made, null));
      },
    );
}

async function readAll(client: Client, id: string): Promise<Row[]> {
  const rows: Row[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listAmbiguous(id, cursor);
    rows.push(...page.data);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return rows;
}

function linesOf({ row, cells, candidates }: Row): string[][] {
  const listed = cells.filter((cell) => cell !== '').join('; ');
  return candidates.map(({ id, probability, evidence, traits }) => {
    const known = Object.values(traits ?? {}).flatMap((value) => value ?? []);
    return [String(row), String(id), String(probability), evidence ?? '', known.join('; '), listed];
  });
}

/** A spreadsheet may open the file: no cell is a formula. */
function toLine(cells: readonly string[]): string {
  return `${cells.map((cell) => encodeCell(cell, { delimiter: ',', safe: true })).join(',')}\n`;
}
