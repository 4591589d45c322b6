/** Finds what the files of a run are: a source that an adapter knows, or rows that a mapping reads. */
import path from 'node:path';
import type { Sql } from '../../core/db/client.ts';
import type { SourceInput } from '../../core/graph/sources/import-source.ts';
import { AppError, unprocessable } from '../../core/lib/errors.ts';
import { toNormalForm } from '../../core/lib/normal-form.ts';
import { listKeptMappings } from '../../sources/kept-mapping.ts';
import { readFileHead } from '../../sources/mapped-file.ts';
import { openMapped, openSource } from '../../sources/read-source.ts';
import {
  type FileHead,
  guessMapping,
  MAPPING_NAME,
  mappingSchema,
  type SourceMapping,
} from '../../sources/source-mapping.ts';
import type { Found, NamedMapping, RunOptions } from './import-run.ts';

export interface OpenedInput {
  input: SourceInput;
  mapping: NamedMapping | null;
  origin: Found['mapping_origin'];
}

/**
 * Opens the files of a run by the operator's choices; without any, as a file of a source, by the kept mapping whose columns they
 * have, or by a guess. Throws `AppError` for files that nothing can read.
 */
export async function openInput(
  sql: Sql,
  files: readonly string[],
  { source, mapping, as_of }: RunOptions,
): Promise<OpenedInput> {
  const asOf = as_of ?? undefined;
  if (mapping !== null) return openByMapping(files, mapping, 'given', asOf);
  refuseWorkbooks(files);
  try {
    const input = await openSource({ source: source ?? 'auto', files, asOf });
    return { input, mapping: null, origin: null };
  } catch (error) {
    if (source !== null || !(error instanceof AppError) || error.code !== 'unknown_source')
      throw error;
  }
  const head = await readFileHead(files[0] ?? '');
  const kept = (await listKeptMappings(sql)).map(({ name, mapping }) => ({ name, ...mapping }));
  const fitting = findFitting(kept, head);
  if (fitting !== undefined) return openByMapping(files, fitting, 'kept', asOf);
  const name = freeName(nameOf(files[0] ?? ''), kept);
  return openByMapping(files, { name, ...guessMapping(head) }, 'guessed', asOf);
}

async function openByMapping(
  files: readonly string[],
  mapping: NamedMapping,
  origin: Found['mapping_origin'],
  asOf: string | undefined,
): Promise<OpenedInput> {
  const input = await openMapped(mapping.name, sourceMappingOf(mapping), { files, asOf });
  return { input, mapping, origin };
}

/** Returns a mapping without its name. */
export function sourceMappingOf({ name: _, ...mapping }: NamedMapping): SourceMapping {
  return mappingSchema.parse(mapping);
}

/** Returns the mapping that names most columns of the file, and none that the file lacks. */
function findFitting(
  kept: readonly NamedMapping[],
  { header }: FileHead,
): NamedMapping | undefined {
  const columnsOf = ({ columns }: NamedMapping) => Object.values(columns).flat();
  return kept
    .filter((mapping) => columnsOf(mapping).every((column) => header.includes(column)))
    .sort((one, other) => columnsOf(other).length - columnsOf(one).length)[0];
}

/** A file with other columns is another source: `partner-list-2`. */
function freeName(name: string, kept: readonly NamedMapping[]): string {
  const isTaken = (one: string) => kept.some((mapping) => mapping.name === one);
  let free = name;
  for (let number = 2; isTaken(free); number++) {
    const suffix = `-${number}`;
    free = name.slice(0, NAME_CHARACTERS - suffix.length) + suffix;
  }
  return free;
}

/** A name for the mapping of a file: `partner-list` for `Partner list (2).csv`. */
function nameOf(file: string): string {
  const [words = ''] = path.basename(file).toLowerCase().split('.');
  const name = toNormalForm(words, 'NFKD')
    .replace(/\d{4}-?\d\d-?\d\d/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, NAME_CHARACTERS)
    .replace(/^-|-$/g, '');
  return MAPPING_NAME.test(name) ? name : 'my-file';
}

const NAME_CHARACTERS = 40;

/** A workbook is a zip, in which nothing would be recognised. */
function refuseWorkbooks(files: readonly string[]): void {
  const workbook = files.find((file) => /\.(xlsx?|xlsm|ods|numbers)$/i.test(file));
  if (workbook === undefined) return;
  throw unprocessable(
    'workbook',
    `${path.basename(workbook)} is a workbook; nothing was changed. Save its sheet as CSV and import that.`,
  );
}
