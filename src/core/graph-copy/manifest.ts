/**
 * The manifest of a local copy: the last file that a build writes, by which all others count. The folder
 * `<data folder>/graph-copy` has one copy at most, `manifest.json` and a folder with its files.
 */
import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { z } from 'zod';
import { ENTRY_BYTES } from './identifier-table.ts';
import { INDEX_ENTRY_BYTES } from './people-index.ts';

/** Raised with every change of the files' form: a process refuses any other. */
export const FORMAT = 2;

const whole = z.int().nonnegative();
const manifestSchema = z.strictObject({
  format: z.literal(FORMAT),
  /** The state of the graph that the files hold. */
  number: whole,
  token: z.uuid(),
  built_at: z.iso.datetime(),
  /** Folder of the files. */
  folder: z.string().regex(/^build-[0-9a-f-]{36}$/),
  people: whole,
  identifiers: whole,
  /** Of the hash of values. */
  seed: whole,
  /** Entries of the table of identifiers, free ones included. */
  slots: whole,
  table_crc32: whole,
  people_bytes: whole,
  /** Entries of the index of people. */
  stretches: whole,
  index_crc32: whole,
  records_bytes: whole,
});
export type Manifest = z.output<typeof manifestSchema>;

/** Returns the length of all files of a copy. */
export function copyBytes(manifest: Manifest): number {
  return Object.values(fileSizes(manifest)).reduce((sum, bytes) => sum + bytes, 0);
}

/** Returns the length of each file of a copy. */
export function fileSizes(manifest: Manifest): Record<keyof typeof copyFiles, number> {
  return {
    table: manifest.slots * ENTRY_BYTES,
    people: manifest.people_bytes,
    index: manifest.stretches * INDEX_ENTRY_BYTES,
    records: manifest.records_bytes,
  };
}

/** The files of a copy, in its folder. */
export const copyFiles = {
  table: 'identifiers.table',
  people: 'people.blocks',
  index: 'people.index',
  records: 'records.text',
} as const;

/** Why a copy is not used: one sentence for the log. */
export class UnusableCopy extends Error {
  override readonly name = 'UnusableCopy';
}

export function copyFolder(dataDir: string): string {
  return path.join(dataDir, 'graph-copy');
}

export function manifestFile(folder: string): string {
  return path.join(folder, 'manifest.json');
}

/** The manifest and a checksum of it: a change by hand is found. */
export function encodeManifest(manifest: Manifest): string {
  const text = JSON.stringify(manifest);
  return `${text}\n${crc32(text)}\n`;
}

/** Throws `UnusableCopy` for a text that `encodeManifest` of this version did not write. */
export function parseManifest(text: string): Manifest {
  const [json = '', sum] = text.split('\n');
  if (String(crc32(json)) !== sum) throw new UnusableCopy('its manifest is damaged');
  const manifest = JSON.parse(json) as { format: unknown };
  if (manifest.format !== FORMAT) {
    throw new UnusableCopy(`its format is ${manifest.format}, and this version reads ${FORMAT}`);
  }
  const parsed = manifestSchema.safeParse(manifest);
  if (!parsed.success) throw new UnusableCopy('its manifest is damaged');
  return parsed.data;
}

/** Returns the folder of files that a manifest names, which may be damaged; null when it names none. */
export function folderNamed(text: string): string | null {
  return /"folder":"(build-[0-9a-f-]{36})"/.exec(text)?.[1] ?? null;
}

/** Returns the text of the manifest of the copy in a folder; null without one. */
export async function readManifestText(folder: string): Promise<string | null> {
  return await readFile(manifestFile(folder), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  });
}

/** Returns the paths of all files in the folder of copies, of half builds too. */
export async function listCopyFiles(folder: string): Promise<string[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
      throw error;
    },
  );
  return found.filter((one) => one.isFile()).map((one) => path.join(one.parentPath, one.name));
}

/** Deletes everything in the folder of copies. Processes that read the copy answer from Postgres from then on. */
export async function dropCopies(folder: string): Promise<void> {
  await rm(manifestFile(folder), { force: true });
  await rm(folder, { recursive: true, force: true });
}
