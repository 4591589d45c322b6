/** Writes the local copy of the live graph from one snapshot of the database: whole, or what changed since. */
import { randomInt } from 'node:crypto';
import type { Database, Sql } from '../db/client.ts';
import {
  countIdentifiers,
  listChanged,
  listWithdrawn,
  type RecordIds,
  readGraphState,
  readRecordsToCopy,
} from './copy.sql.ts';
import { type Replacing, replaceCopy } from './copy-folder.ts';
import { TOO_MUCH } from './copy-status.ts';
import {
  type Entity,
  FORMAT,
  type Layer,
  lastLayer,
  type Manifest,
  parseManifest,
  UnusableCopy,
} from './manifest.ts';
import { wipeRecords } from './wipe-records.ts';
import { type WriteOptions, writeRecords } from './write-records.ts';

const SEEDS = 2 ** 32;

export type BuildOptions = Replacing & WriteOptions;

/**
 * Builds a copy in its folder, which takes the place of an earlier one when it is whole. Returns its manifest. Throws
 * `AppError` 409 `copy_is_built` while another process builds it, or when one has replaced the copy that `replaces`
 * names, 422 `graph_too_large`, 503 `disk_full`. A build that fails leaves the earlier copy as it was.
 */
export function buildCopy(sql: Database, options: BuildOptions): Promise<Manifest> {
  return replaceCopy(sql, options, async (tx, files, name) => ({
    format: FORMAT,
    ...(await writeLayer(tx, { ...options, files, name })),
    delta: null,
  }));
}

export interface RollOptions extends BuildOptions {
  /** Text of the manifest of the copy. */
  replaces: string;
  /** Share of the records of the build up to which a delta has those that changed; for more all is built again. */
  shareMax: number;
}

/**
 * Brings a copy to the present state of the graph: a new delta, in place of the earlier one, has all records that changed
 * since the build. Returns the manifest. Throws as `buildCopy`, and `UnusableCopy` when it is not known what changed. When it
 * fails the copy stays in its state.
 */
export function rollForward(sql: Database, options: RollOptions): Promise<Manifest> {
  const { folder, replaces, shareMax } = options;
  const before = parseManifest(replaces);
  const build = { ...before, delta: null };
  return replaceCopy(sql, options, async (tx, files, name) => {
    const changed = await listChanged(tx, build);
    if (changed === null) throw new UnusableCopy(TOO_MUCH);
    const size = changed.people.length + changed.companies.length;
    if (size > shareMax * (build.people.count + build.companies.count)) {
      return { ...build, ...(await writeLayer(tx, { ...options, files, name })) };
    }
    // No process looks for them any more once the delta covers them.
    const { people } = await listWithdrawn(tx, lastLayer(before).number);
    if (people.length > 0) await wipeRecords(folder, build, async () => ({ ...changed, people }));
    const delta = await writeLayer(tx, { ...options, files, name, changed, build });
    return { ...build, delta };
  });
}

/** Writes the files of a layer: of all records, or of those that changed since a build. */
async function writeLayer(
  tx: Sql,
  {
    files,
    name,
    changed = null,
    build,
    ...options
  }: WriteOptions & { files: string; name: string; changed?: RecordIds | null; build?: Layer },
): Promise<Layer> {
  const state = await readGraphState(tx);
  const identifiers = await countIdentifiers(tx, changed);
  const seed = randomInt(SEEDS - 1);
  const write = (entity: Entity) =>
    writeRecords(readRecordsToCopy(tx, entity, changed?.[entity] ?? null), {
      ...options,
      ...{ folder: files, entity, seed, identifiers: identifiers[entity] },
      covered: Float64Array.from(changed?.[entity] ?? []),
      furtherFrom: build?.[entity].further_bytes ?? 0,
    });
  return {
    ...state,
    built_at: new Date().toISOString(),
    folder: name,
    seed,
    people: await write('people'),
    companies: await write('companies'),
  };
}
