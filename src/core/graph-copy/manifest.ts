/**
 * The manifest of a local copy: the last file that a build writes, by which all others count. The folder
 * `<data folder>/graph-copy` has one copy at most, `manifest.json` and a folder with its files. A copy that was rolled
 * forward has a second one, with the files of its delta: the records that changed since its build, as they are now.
 */
import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { z } from 'zod';
import { ENTRY_BYTES } from './identifier-table.ts';
import { INDEX_ENTRY_BYTES } from './record-index.ts';

/** Raised with every change of the files' form: a process refuses any other. */
export const FORMAT = 4;

/** The kinds of records of a copy, each in files of its own. */
export const entities = ['people', 'companies'] as const;
export type Entity = (typeof entities)[number];

const whole = z.int().nonnegative();
const recordFilesSchema = z.strictObject({
  /** Records. */
  count: whole,
  identifiers: whole,
  /** Entries of the table of identifiers, free ones included. */
  slots: whole,
  table_crc32: whole,
  blocks_bytes: whole,
  /** Entries of the index. */
  stretches: whole,
  index_crc32: whole,
  further_bytes: whole,
  /** Ids about which a delta knows, also of records that are gone; 0 of a build, which knows about all. */
  covered: whole,
  covered_crc32: whole,
});
/** The files of one kind of record. */
export type RecordFiles = z.output<typeof recordFilesSchema>;

const layerSchema = z.strictObject({
  /** The state of the graph that the files hold. */
  number: whole,
  token: z.uuid(),
  built_at: z.iso.datetime(),
  /** Folder of the files. */
  folder: z.string().regex(/^build-[0-9a-f-]{36}$/),
  /** Of the hash of values. */
  seed: whole,
  people: recordFilesSchema,
  companies: recordFilesSchema,
});
/** A folder with files of records in one state of the graph. */
export type Layer = z.output<typeof layerSchema>;

const manifestSchema = layerSchema.extend({
  format: z.literal(FORMAT),
  /** The files of the last roll forward; null before one. */
  delta: layerSchema.nullable(),
});
export type Manifest = z.output<typeof manifestSchema>;

/** Returns the layers of a copy, the build first. */
export function layersOf(manifest: Manifest): Layer[] {
  return manifest.delta === null ? [manifest] : [manifest, manifest.delta];
}

/** Returns the layer that says which state of the graph a copy holds. */
export function lastLayer(manifest: Manifest): Layer {
  return manifest.delta ?? manifest;
}

/** Returns the length of all files of a copy. */
export function copyBytes(manifest: Manifest): number {
  return filesOf(manifest).reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Returns the files of a copy, always in the same order: where they are in its folder, and their length. */
export function filesOf(manifest: Manifest): { file: string; bytes: number }[] {
  return layersOf(manifest).flatMap((layer) =>
    entities.flatMap((entity) =>
      fileKinds.map((kind) => ({
        file: path.join(layer.folder, fileName(entity, kind)),
        bytes: fileSizes(layer[entity])[kind],
      })),
    ),
  );
}

/** The files of one kind of record: their names begin with the kind. */
export const fileKinds = ['identifiers', 'blocks', 'index', 'further', 'covered'] as const;
export type FileKind = (typeof fileKinds)[number];

/** Returns the length of each file of one kind of record. */
export function fileSizes(files: RecordFiles): Record<FileKind, number> {
  return {
    identifiers: files.slots * ENTRY_BYTES,
    blocks: files.blocks_bytes,
    index: files.stretches * INDEX_ENTRY_BYTES,
    further: files.further_bytes,
    covered: files.covered * Float64Array.BYTES_PER_ELEMENT,
  };
}

/** Returns the name of a file in the folder of a build. */
export function fileName(entity: Entity, kind: FileKind): string {
  return `${entity}.${kind}`;
}

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

/** Returns the folders of files that a manifest names, which may be damaged. */
export function foldersNamed(text: string): string[] {
  return [...text.matchAll(/"folder":"(build-[0-9a-f-]{36})"/g)].map(([, name = '']) => name);
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
