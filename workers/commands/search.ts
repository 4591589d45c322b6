/** `search`: all pages of a person search as JSON lines; the client side, over HTTP alone. */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import type { Command } from 'commander';
import type { Client } from '../../src/client/client.ts';
import { PERSON_PRICE_TEXT } from '../../src/core/operations.ts';
import { wholeNumber } from '../arguments.ts';
import { readGlobals } from '../global-options.ts';
import { openClient } from '../open-client.ts';
import { countOf, printResult, sayTotal, sayUnknownValues } from '../output.ts';

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
            `${countOf(written.people, 'person', 'people')}, ${countOf(written.credits, 'credit')}, ${options.output}`,
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

/** Pages are asked for one after another, never more than are wanted: each is paid. */
async function writePeople(
  client: Client,
  filter: string,
  { max, fields, output }: { max: number; fields?: string; output?: string },
): Promise<{ people: number; credits: number }> {
  const stream = output === undefined ? process.stdout : createWriteStream(output);
  let people = 0;
  let credits = 0;
  const projection = fields === undefined ? '' : `&fields=${encodeURIComponent(fields)}`;
  let next: string | null = `/personsearch/?${filter}${projection}`;
  while (next !== null && people < max) {
    const limit = Math.min(PAGE_PEOPLE_MAX, max - people);
    const path: string = `${next.replace(/&limit=\d+/g, '')}&limit=${limit}`;
    const page = await client.searchPage(path);
    sayUnknownValues(page.unknownValues);
    const lines = page.people.map((person) => `${JSON.stringify(person)}\n`).join('');
    if (!stream.write(lines)) await once(stream, 'drain');
    people += page.people.length;
    credits += page.creditsCharged;
    next = page.next;
  }
  if (output !== undefined) {
    stream.end();
    await finished(stream);
  }
  return { people, credits };
}
