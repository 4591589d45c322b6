/** `search`: all pages of a person search as JSON lines; the client side, over HTTP alone. */
import { open } from 'node:fs/promises';
import type { Command } from 'commander';
import type { Client } from '../../src/client/client.ts';
import { PERSON_PRICE_TEXT } from '../../src/core/operations.ts';
import { wholeNumber } from '../arguments.ts';
import { readGlobals } from '../global-options.ts';
import { openClient } from '../open-client.ts';
import { countOf, printResult, say, sayTotal, sayUnknownValues, toJson } from '../output.ts';
import { retryWhenLost } from '../retry-while-unavailable.ts';
import { isSpecialFile } from '../special-file.ts';

const PAGE_PEOPLE_MAX = 1000;

export function addSearchCommand(program: Command): void {
  program
    .command('search')
    .description(`write matching people as JSON lines; ${PERSON_PRICE_TEXT} a person`)
    .argument('<filter>', 'such as "positionList=[Accountant|Auditor]&locationList=[:France]"')
    .option('--preview', 'show approximate counts of people and of their fields instead; free')
    .option('--max <number>', 'maximum number of people', wholeNumber(1), PAGE_PEOPLE_MAX)
    .option('--fields <list>', 'comma-separated fields of each person; default: all')
    .option('-o, --output <file>', 'file to write to; default: stdout')
    .action(
      async (
        filter: string,
        options: { preview?: boolean; max: number; fields?: string; output?: string },
        command: Command,
      ) => {
        const { config, json } = readGlobals(command);
        const client = await openClient(config);
        // A hash would end the address (C#).
        const query = filter.replaceAll('#', '%23');
        if (options.preview) return preview(client, query, json);
        const written = await writePeople(client, query, options);
        // What is written to stdout is the answer; the summary would be one line too many.
        if (options.output !== undefined) {
          printResult(json, { ...written, output: options.output }, [
            `${describe(written)}, ${options.output}`,
          ]);
        }
      },
    );
}

async function preview(client: Client, filter: string, json: boolean): Promise<void> {
  const found = await client.previewSearch(filter);
  printResult(json, found, [
    `${sayTotal(found)} people, ${sayTotal({ ...found, total: found.estimated_credits })} credits`,
    ...Object.entries(found.fields).map(([field, people]) => `${field.padEnd(32)} ${people}`),
  ]);
  sayUnknownValues(found.unknown_values);
}

/** The receiver of the people. */
interface Output {
  /** Takes the lines of a page; false when its reader has read enough. Throws when it cannot keep them. */
  write(lines: string): Promise<boolean>;
  close(): Promise<void>;
}

const standardOutput: Output = {
  write: (lines) =>
    new Promise((resolve, reject) => {
      process.stdout.write(lines, (error?: NodeJS.ErrnoException | null) => {
        if (error?.code === 'EPIPE') resolve(false);
        else if (error) reject(error);
        else resolve(true);
      });
    }),
  close: async () => {},
};

/** Opens a file before anything is paid. What it had before stays until the first page is there. Throws as `open`. */
async function openFile(file: string): Promise<Output> {
  const isSpecial = await isSpecialFile(file);
  const handle = await open(file, 'a');
  let isEmptied = isSpecial;
  return {
    async write(lines) {
      if (!isEmptied) await handle.truncate();
      isEmptied = true;
      await handle.writeFile(lines);
      return true;
    },
    close: () => handle.close(),
  };
}

/**
 * Writes pages one after another, never more than are wanted, and none for a reader that has gone: each is paid. What was written
 * stays when a later page fails.
 */
async function writePeople(
  client: Client,
  filter: string,
  { max, fields, output }: { max: number; fields?: string; output?: string },
): Promise<{ people: number; credits: number }> {
  const target = output === undefined ? standardOutput : await openFile(output);
  const done = { people: 0, credits: 0 };
  const projection = fields === undefined ? '' : `&fields=${encodeURIComponent(fields)}`;
  let next: string | null = `/personsearch/?${filter}${projection}`;
  try {
    while (next !== null && done.people < max) {
      const limit = Math.min(PAGE_PEOPLE_MAX, max - done.people);
      const path: string = `${next.replace(/&limit=\d+/g, '')}&limit=${limit}`;
      const page = await retryWhenLost((once) => client.searchPage(path, once));
      sayUnknownValues(page.unknownValues);
      done.people += page.people.length;
      done.credits += page.creditsCharged;
      next = page.next;
      const lines = page.people.map((person) => `${toJson(person)}\n`).join('');
      if (!(await target.write(lines))) break;
    }
  } catch (error) {
    if (done.people > 0) say(`Not complete: ${describe(done)} before this error.`);
    throw error;
  } finally {
    await target.close();
  }
  return done;
}

function describe({ people, credits }: { people: number; credits: number }): string {
  return `${countOf(people, 'person', 'people')}, ${countOf(credits, 'credit')}`;
}
