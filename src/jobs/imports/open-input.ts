/** Finds what the files of a run are: a source that an adapter knows, or rows that a mapping reads. */
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Sql } from '../../core/db/client.ts';
import type { SourceInput } from '../../core/graph/sources/import-source.ts';
import { AppError, unprocessable } from '../../core/lib/errors.ts';
import { toNormalForm } from '../../core/lib/normal-form.ts';
import { listKeptMappings, readKeptMapping } from '../../sources/kept-mapping.ts';
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
 * have, or by a guess. Columns do not tell whose file it is: when several fit, the one with the name of the file is taken, and
 * without it the operator must choose. Throws `AppError` for files that nothing can read.
 */
export async function openInput(
  sql: Sql,
  files: readonly string[],
  { source, mapping, as_of }: RunOptions,
): Promise<OpenedInput> {
  const asOf = as_of ?? undefined;
  if (mapping !== null) {
    const kept = await readKeptMapping(sql, mapping.name);
    const isOther = kept !== undefined && !isDeepStrictEqual(kept, sourceMappingOf(mapping));
    return openByMapping(files, mapping, isOther ? 'replacing' : 'given', asOf);
  }
  refuseWorkbooks(files);
  try {
    const input = await openSource({ source: source ?? 'auto', files, asOf });
    return { input, mapping: null, origin: null };
  } catch (error) {
    if (source !== null || !(error instanceof AppError) || error.code !== 'unknown_source')
      throw error;
  }
  const head = await readFileHead(files[0] ?? '');
  const fitting = await listFitting(sql, head);
  const name = nameOf(files[0] ?? '');
  const chosen = fitting.find((one) => one.name === name) ?? fitting[0];
  if (chosen === undefined) {
    const mapping = { name: freeName(name, await listKept(sql)), ...guessMapping(head) };
    return openByMapping(files, mapping, 'guessed', asOf);
  }
  const isClear = fitting.length === 1 || chosen.name === name;
  return openByMapping(files, chosen, isClear ? 'kept' : 'several', asOf);
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

/** Returns the kept mappings that name no column that the file lacks; the one with most columns first. */
export async function listFitting(sql: Sql, { header }: FileHead): Promise<NamedMapping[]> {
  const columnsOf = ({ columns }: NamedMapping) => Object.values(columns).flat();
  return (await listKept(sql))
    .filter((mapping) => columnsOf(mapping).every((column) => header.includes(column)))
    .sort((one, other) => columnsOf(other).length - columnsOf(one).length);
}

async function listKept(sql: Sql): Promise<NamedMapping[]> {
  return (await listKeptMappings(sql)).map(({ name, mapping }) => ({ name, ...mapping }));
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
