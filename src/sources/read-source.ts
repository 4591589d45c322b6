/** Opens the files of an import: finds their source, their day and their dataset. */
import path from 'node:path';
import type { SourceInput } from '../core/graph/sources/import-source.ts';
import { invalidParameter, unprocessable } from '../core/lib/errors.ts';
import type { Adapter, Dataset, PartHead } from './adapter.ts';
import { apollo } from './adapters/apollo.ts';
import { ariregister } from './adapters/ariregister.ts';
import { brreg } from './adapters/brreg.ts';
import { gbAccounts } from './adapters/gb-accounts.ts';
import { gbCompanies } from './adapters/gb-companies.ts';
import { gbOfficers } from './adapters/gb-officers.ts';
import { gbPsc } from './adapters/gb-psc.ts';
import { gleif } from './adapters/gleif.ts';
import { googleContacts } from './adapters/google-contacts.ts';
import { hubspot } from './adapters/hubspot.ts';
import { linkedin } from './adapters/linkedin.ts';
import { outlook } from './adapters/outlook.ts';
import { pdl } from './adapters/pdl.ts';
import { pipedrive } from './adapters/pipedrive.ts';
import { salesforce } from './adapters/salesforce.ts';
import { sirene } from './adapters/sirene.ts';
import { vcard } from './adapters/vcard.ts';
import { toUtf8 } from './csv-rows.ts';
import { mappedDataset } from './mapped-file.ts';
import { hashFiles, openParts, readPartHead, type SourcePart } from './source-files.ts';
import type { SourceMapping } from './source-mapping.ts';
import { isLaterThanTomorrow, isoDate } from './values.ts';

const adapters: readonly Adapter[] = [
  gbCompanies,
  gbPsc,
  gbOfficers,
  gbAccounts,
  gleif,
  pdl,
  sirene,
  brreg,
  ariregister,
  hubspot,
  salesforce,
  apollo,
  pipedrive,
  linkedin,
  googleContacts,
  outlook,
  vcard,
];

/** Names that `--source` takes; `auto` finds the source by the file. */
export const sourceNames: readonly string[] = [...adapters.map(({ name }) => name), 'auto'];

export interface SourceFiles {
  source: string;
  files: readonly string[];
  /** Day of the data; by default the one in the file itself or its name, otherwise today. */
  asOf?: string | undefined;
}

/**
 * Opens files of one source, which must all be the same dataset of it. Throws `AppError` 422 `unknown_source` for
 * a file that no adapter recognises, or not the one that is named; as `dayOf`.
 */
export async function openSource({ source, files, asOf }: SourceFiles): Promise<SourceInput> {
  const found: { adapter: Adapter; dataset: Dataset }[] = [];
  for (const file of files) found.push(await recognise(source, file));
  const [first] = found;
  if (first === undefined) throw invalidParameter('file', 'Name at least one file.');
  const other = found.findIndex(
    ({ adapter, dataset }) =>
      adapter !== first.adapter || kindOf(dataset) !== kindOf(first.dataset),
  );
  if (other > 0) {
    throw unprocessable(
      'different_files',
      `${path.basename(files[other] ?? '')} is another kind of file than ${path.basename(files[0] ?? '')}; import them one by one.`,
    );
  }
  const days = found.map(({ dataset }) => dataset.asOf);
  return inputOf(first.adapter.name, first.dataset, { files, asOf: asOf ?? dayOf(files, days) });
}

function kindOf({ snapshotOf, columns }: Dataset): string {
  return JSON.stringify([snapshotOf, columns]);
}

/** Opens files that no adapter knows; their source has the name of the mapping. Throws `AppError` as `dayOf`. */
export async function openMapped(
  source: string,
  mapping: SourceMapping,
  { files, asOf = dayOf(files) }: Omit<SourceFiles, 'source'>,
): Promise<SourceInput> {
  return inputOf(source, mappedDataset(source, mapping), { files, asOf });
}

async function inputOf(
  source: string,
  dataset: Dataset,
  { files, asOf }: { files: readonly string[]; asOf: string },
): Promise<SourceInput> {
  const sha256 = await hashFiles(files);
  return {
    source,
    files: files.map((file) => path.basename(file)),
    asOf,
    snapshotOf: dataset.snapshotOf,
    rows: () => dataset.read(partsOf(files)),
    sha256: () => sha256,
  };
}

/**
 * Returns the day of files: the one that each has in itself, or in its name, otherwise today. Throws `AppError` 422 for files
 * of several days, of which an older one would bring its values back later, and for a day to come, until which nothing newer
 * would count.
 */
function dayOf(files: readonly string[], own: readonly (string | undefined)[] = []): string {
  const today = new Date().toISOString().slice(0, 10);
  const days = files.map((file, place) => own[place] ?? dayInName(file) ?? today);
  const [day = today] = days;
  const other = days.findIndex((one) => one !== day);
  const nameOf = (place: number) => path.basename(files[place] ?? '');
  if (other > 0) {
    throw unprocessable(
      'different_days',
      `${nameOf(other)} is dated ${days[other]}, ${nameOf(0)} ${day}; nothing was changed. Import them one by one, the oldest first, or set one day with --as-of.`,
    );
  }
  if (isLaterThanTomorrow(day)) {
    throw unprocessable(
      'future_day',
      `${nameOf(0)} is dated ${day}, which is in the future; nothing was changed. Set the day of its data with --as-of.`,
    );
  }
  return day;
}

async function recognise(
  source: string,
  file: string,
): Promise<{ adapter: Adapter; dataset: Dataset }> {
  const head = await headOf(file);
  const asked = adapters.filter(({ name }) => source === 'auto' || name === source);
  for (const adapter of asked) {
    const dataset = adapter.recognise(head);
    if (dataset !== null) return { adapter, dataset };
  }
  const others = adapters.filter((adapter) => adapter.recognise(head) !== null);
  const advice =
    others.length > 0
      ? `It looks like ${others.map(({ name }) => name).join(' or ')}.`
      : `Name its source with --source (${adapters.map(({ name }) => name).join(', ')}), or import any other CSV or JSONL with --map NAME.`;
  throw unprocessable(
    'unknown_source',
    `${path.basename(file)} is not recognised as ${source === 'auto' ? 'a file of any source' : source}; nothing was changed. ${advice}`,
  );
}

async function headOf(file: string): Promise<PartHead> {
  const { name, head } = await readPartHead(file);
  const chunks: Buffer[] = [];
  for await (const chunk of toUtf8(single(head))) chunks.push(chunk);
  return { name, text: Buffer.concat(chunks).toString('utf8') };
}

async function* single(head: Buffer): AsyncGenerator<Buffer> {
  yield head;
}

async function* partsOf(files: readonly string[]): AsyncGenerator<SourcePart> {
  for (const file of files) yield* openParts(file);
}

/** `Accounts_Monthly_Data-March2025.zip`. A file of a month that has not ended is today's. */
function lastDayOfMonthInName(file: string): string | undefined {
  const [, name = '', year] = /[-_]([A-Z][a-z]{2,8})(20\d\d)(?!\d)/.exec(path.basename(file)) ?? [];
  const month = monthNames.indexOf(name) + 1;
  if (month === 0) return undefined;
  const day = new Date(Date.UTC(Number(year), month, 0)).toISOString().slice(0, 10);
  const today = new Date().toISOString().slice(0, 10);
  return day > today && day.startsWith(today.slice(0, 7)) ? today : day;
}

const monthNames = [
  ...['January', 'February', 'March', 'April', 'May', 'June'],
  ...['July', 'August', 'September', 'October', 'November', 'December'],
];

/** `...-2026-10-01...` or `...20261001...` in a file name; undefined for a day that does not exist. */
function dayInName(file: string): string | undefined {
  const match = /(?<!\d)(20\d\d)-?(0[1-9]|1[0-2])-?(0[1-9]|[12]\d|3[01])(?!\d)/.exec(
    path.basename(file),
  );
  if (match !== null) return isoDate(`${match[1]}-${match[2]}-${match[3]}`);
  return lastDayOfMonthInName(file);
}
