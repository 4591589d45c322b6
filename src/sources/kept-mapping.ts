/** Mappings by what a caller names: a file with one, or the name under which one is kept. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { Sql } from '../core/db/client.ts';
import { asObject } from '../core/graph/import/coerce.ts';
import { OWN_SOURCE } from '../core/graph/sources/partition.ts';
import {
  listSourceMappings,
  readSourceMapping,
  saveSourceMapping,
} from '../core/graph/sources/source-mappings.sql.ts';
import { invalidParameter } from '../core/lib/errors.ts';
import { sourceNames } from './read-source.ts';
import { MAPPING_NAME, mappingSchema, type SourceMapping } from './source-mapping.ts';

/**
 * Returns the name of a mapping, and the mapping itself when a `.json` file is given: `{name, of, columns, country}`,
 * by default with the file's name. Throws `AppError` 400 for a file that holds no mapping and for a name that is no
 * mapping's.
 */
export async function readGivenMapping(
  given: string,
): Promise<{ name: string; mapping?: SourceMapping }> {
  if (!given.endsWith('.json')) return { name: checkedName(given) };
  const { name, ...mapping } = asObject(parsed(await textOf(given), given)) ?? {};
  const read = mappingSchema.safeParse(mapping);
  if (!read.success) throw invalidParameter('map', `${given}: ${z.prettifyError(read.error)}`);
  const own = typeof name === 'string' ? name : path.basename(given, '.json').toLowerCase();
  return { name: checkedName(own), mapping: read.data };
}

/** Returns the mapping that is kept under a name, if any. */
export async function readKeptMapping(sql: Sql, name: string): Promise<SourceMapping | undefined> {
  const kept = await readSourceMapping(sql, name);
  return kept === undefined ? undefined : mappingSchema.parse(kept);
}

/** Returns all kept mappings, by name. */
export async function listKeptMappings(
  sql: Sql,
): Promise<{ name: string; mapping: SourceMapping }[]> {
  const kept = await listSourceMappings(sql);
  return kept.map(({ name, mapping }) => ({ name, mapping: mappingSchema.parse(mapping) }));
}

/** Keeps a mapping under its name, in the place of the one that has it. */
export async function keepMapping(sql: Sql, name: string, mapping: SourceMapping): Promise<void> {
  await saveSourceMapping(sql, name, mappingSchema.parse(mapping));
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch {
    throw invalidParameter(
      'map',
      `${file} cannot be read. Give a name, or a .json file with a mapping.`,
    );
  }
}

function parsed(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidParameter(
      'map',
      `${file} is not JSON. Write {"of": "persons", "columns": {"email": ["E-mail"]}}.`,
    );
  }
}

function checkedName(name: string): string {
  checkMappingName('map', name);
  return name;
}

/** Throws `AppError` 400, about this parameter, for a text that cannot be the name of a mapping. */
export function checkMappingName(parameter: string, name: string): void {
  if ([...sourceNames, OWN_SOURCE].includes(name)) {
    throw invalidParameter(
      parameter,
      `${name} is the name of a source. Give the mapping another name.`,
    );
  }
  if (MAPPING_NAME.test(name)) return;
  throw invalidParameter(
    parameter,
    `“${name}” is not a valid mapping name. Use up to 40 lower-case letters, digits and dashes, such as partner-list.`,
  );
}
