/**
 * The local copy as a process uses it: opened when there is one, brought to the state of the graph before each use,
 * dropped when it cannot be trusted. Without a copy Postgres answers.
 */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { Database } from '../db/client.ts';
import { postgresGraph } from '../enrich/graph-reader.ts';
import type { GraphState } from '../graph/graph-state.ts';
import type { Log } from '../log.ts';
import { CHANGED_MAX, ChangedGraph } from './changed-records.ts';
import { type CopiedGraph, copiedGraph } from './copied-graph.ts';
import { readChangesSince, readGraphState } from './copy.sql.ts';
import { problemOf } from './copy-status.ts';
import {
  dropCopies,
  foldersNamed,
  lastLayer,
  type Manifest,
  manifestFile,
  parseManifest,
  readManifestText,
  UnusableCopy,
} from './manifest.ts';
import { type CopyReader, type OpenReader, readInThread } from './read-in-thread.ts';
import { wipeWithdrawn } from './wipe-withdrawn.ts';

export { hasState } from './copy.sql.ts';

/** The graph as a copy answers for it. */
export interface GraphInState extends CopiedGraph {
  /** Records are read as the graph holds them as long as it has this state. */
  state: GraphState;
}

export interface LocalCopy {
  /**
   * Runs `work` on the live graph, which `sql` sees, in its present state. Null when there is no copy, or none that can be
   * used: it is dropped then, also when `work` finds its files changed, unless it is only behind. People who withdrew are
   * overwritten in it before. Records may be read until `graph.release`.
   */
  read<T>(sql: Database, work: (graph: GraphInState) => Promise<T>): Promise<T | null>;
  /**
   * As `read`, in the state that was learnt of last: waits for nothing but `work`, which resolves to null when the graph no
   * longer has this state. From then on null, until the changes since are known: they are asked for meanwhile.
   */
  readAsKnown<T>(
    sql: Database,
    work: (graph: GraphInState) => Promise<T | null>,
  ): Promise<T | null>;
  /** Counts rows of a list that a copy answered for, or could have answered for. */
  countRows(rows: number): void;
  /** Describes the copy as the last call of `read` found it. */
  describe(): CopyInUse;
  /** See `copyFolder`. */
  folder: string;
  /** Set while this process builds, fetches or rolls forward the next copy. */
  isBuilding: boolean;
  /** Set while it publishes this one. */
  isPublishing: boolean;
  close(): void;
}

export interface CopyInUse {
  /** Null without a copy that can be used. */
  copy: Manifest | null;
  /** The text of its manifest. */
  text: string | null;
  /** The state of the graph up to which it has no person who withdrew; null without a copy. */
  reached: number | null;
  /** Records that changed since the state that it holds: Postgres answers for them. */
  changed: number;
  /** True when they are too many: Postgres answers for all until the copy is rolled forward. */
  isBehind: boolean;
  /** Rows counted since there is this copy, or none. */
  rows: number;
}

/** The copy that the manifest `text` names. */
interface Current {
  text: string;
  manifest: Manifest;
  copy: CopyReader;
  changed: ChangedGraph;
  isBehind: boolean;
  /** False until the changes since are asked for, and when the graph is found in another state. */
  isKnown: boolean;
  /** The state of the graph up to which people who withdrew are overwritten. */
  wipedTo: number;
  /** Of the copies of this folder; see `wipeWithdrawn`. */
  companiesTo: Map<string, number>;
  /** Set while this process overwrites some. */
  wiping: Promise<void> | null;
  /** Calls of `read` that have begun and not ended: they need the files. */
  readers: number;
  isReplaced: boolean;
}

/** The copy that a folder holds at a time, opened. */
interface OpenCopy {
  /** The copy found last. */
  current(): Current | null;
  /** The copy of the folder; null without one. */
  find(): Promise<Current | null>;
  /** Deletes the copy of the manifest `text`, and says why. */
  drop(text: string, why: string): Promise<void>;
  close(): void;
}

/** Opens the copy of a folder, if there is one or as soon as there is; see `copyFolder`. `openReader` opens its files. */
export function openLocalCopy(
  folder: string,
  log: Log,
  openReader: OpenReader = readInThread,
): LocalCopy {
  let rows = 0;
  const copies = followFolder(folder, log, openReader, () => {
    rows = 0;
  });
  /** Runs `work` in the state that is known, after `learn`. */
  const readFrom = async <T>(
    sql: Database,
    used: Current,
    work: (graph: GraphInState) => Promise<T>,
    learn: () => Promise<void>,
  ): Promise<T | null> => {
    used.readers++;
    let state: GraphState | null = null;
    try {
      await learn();
      if (used.isBehind) return null;
      state = used.changed.state;
      const graph = copiedGraph(used.copy, used.changed, postgresGraph(sql));
      return await work({ ...graph, state });
    } catch (error) {
      if (!(error instanceof UnusableCopy)) throw error;
      // Another process may have overwritten what this one read. Then it counts for nothing: damage is found again.
      if (state !== null && (await readGraphState(sql)).token !== state.token) return null;
      await copies.drop(used.text, error.message);
    } finally {
      used.readers--;
      closeUnused(used);
    }
    return null;
  };

  const read: LocalCopy['read'] = async (sql, work) => {
    let used = await copies.find();
    // A new build may have replaced it since, and its files are closed then.
    while (used?.isReplaced) used = await copies.find();
    if (used === null) return null;
    const found = used;
    return readFrom(sql, found, work, () => catchUp(sql, folder, found));
  };

  let isAsking = false;
  /** Asks what changed, unless that is under way. */
  const ask = async (sql: Database): Promise<void> => {
    if (isAsking) return;
    isAsking = true;
    await read(sql, async () => {}).catch((error: unknown) =>
      log.warn({ err: error }, 'the changes of the graph are not known, Postgres answers'),
    );
    isAsking = false;
  };

  return {
    read,

    async readAsKnown(sql, work) {
      const used = copies.current();
      // What is behind is rolled forward first: the next `read` finds it.
      if (used === null || used.isBehind) return null;
      const answer = used.isKnown ? await readFrom(sql, used, work, async () => {}) : null;
      if (answer === null) {
        used.isKnown = false;
        void ask(sql);
      }
      return answer;
    },

    countRows(counted) {
      rows += counted;
    },
    describe() {
      const current = copies.current();
      return {
        copy: current?.manifest ?? null,
        text: current?.text ?? null,
        reached: current?.wipedTo ?? null,
        changed: current?.changed.size ?? 0,
        isBehind: current?.isBehind ?? false,
        rows,
      };
    },
    folder,
    isBuilding: false,
    isPublishing: false,
    close: copies.close,
  };
}

/** Opens, replaces and drops the copies of a folder; `onOther` is called when another one, or none, takes the place of one. */
function followFolder(
  folder: string,
  log: Log,
  openReader: OpenReader,
  onOther: () => void,
): OpenCopy {
  const companiesTo = new Map<string, number>();
  let current: Current | null = null;
  let opening: Promise<Current | null> | null = null;
  /** The manifest of a copy that was found unusable, and may not have been deleted. */
  let refused: string | null = null;

  const retire = () => {
    if (current === null) return;
    onOther();
    current.isReplaced = true;
    closeUnused(current);
    current = null;
  };

  const drop = async (text: string, why: string) => {
    if (refused === text) return;
    refused = text;
    if (current?.text === text) retire();
    log.warn({ folder }, `the local copy of the graph is dropped, Postgres answers: ${why}`);
    await deleteCopy(folder, text).catch((error: unknown) =>
      log.warn({ err: error, folder }, 'the dropped copy could not be deleted'),
    );
  };

  const open = async (text: string): Promise<Current | null> => {
    try {
      const manifest = parseManifest(text);
      const copy = await openReader(folder, manifest);
      retire();
      const state = lastLayer(manifest);
      current = {
        text,
        manifest,
        copy,
        changed: new ChangedGraph(state),
        isBehind: false,
        isKnown: false,
        wipedTo: state.number,
        companiesTo,
        wiping: null,
        readers: 0,
        isReplaced: false,
      };
      onOther();
      return current;
    } catch (error) {
      const why = (error as Error).message;
      // As with too many open files: the copy is as good as before, and others use it.
      if (!(error instanceof UnusableCopy)) {
        log.warn(
          { folder },
          `the local copy of the graph cannot be opened, Postgres answers: ${why}`,
        );
        return null;
      }
      // Another process may just have replaced it by a new one.
      const isPresent = (await readManifestText(folder)) === text;
      if (isPresent) await drop(text, why);
      return null;
    }
  };

  const find = async (): Promise<Current | null> => {
    // A folder that cannot be read at the moment says nothing: the copy that is open stays.
    const text = await readManifestText(folder).catch(() => undefined);
    if (text === null) retire();
    if (text == null || text === current?.text) return current;
    if (text === refused) return null;
    opening ??= open(text).finally(() => {
      opening = null;
    });
    return opening;
  };

  return { current: () => current, find, drop, close: retire };
}

function closeUnused({ copy, readers, isReplaced }: Current): void {
  if (isReplaced && readers === 0) copy.close();
}

/**
 * Learns what changed since the last use, and overwrites people who withdrew. Throws `UnusableCopy` when the copy can no longer
 * be used.
 */
async function catchUp(sql: Database, folder: string, used: Current): Promise<void> {
  const { changed } = used;
  while (true) {
    const from = changed.state;
    const idsMax = Math.max(0, CHANGED_MAX - changed.size);
    const changes = await readChangesSince(sql, from, { idsMax, wipedTo: used.wipedTo });
    const problem = problemOf(changes);
    if (problem !== null) throw new UnusableCopy(problem);
    if (changes.hasWithdrawn) await wipe(sql, folder, used);
    // Another part may have learnt of them meanwhile.
    if (changed.state !== from) continue;
    if (!changes.hasWithdrawn) used.wipedTo = Math.max(used.wipedTo, changes.state.number);
    used.isBehind = changes.isTooMany;
    if (!used.isBehind && changes.state.number !== from.number) changed.add(changes);
    used.isKnown = !used.isBehind;
    return;
  }
}

/** Overwrites people who withdrew, unless another process writes to the folder: then the next use does. */
async function wipe(sql: Database, folder: string, used: Current): Promise<void> {
  used.wiping ??= wipeWithdrawn(sql, folder, used)
    .then((reached) => {
      used.wipedTo = Math.max(used.wipedTo, reached);
    })
    .finally(() => {
      used.wiping = null;
    });
  await used.wiping;
}

/** Deletes the copy that this manifest names, unless another one took its place. */
async function deleteCopy(folder: string, text: string): Promise<void> {
  if ((await readManifestText(folder)) !== text) return;
  const names = foldersNamed(text);
  // A damaged manifest names no files: a build that runs at this moment fails, and says so.
  if (names.length === 0) return dropCopies(folder);
  await rm(manifestFile(folder), { force: true });
  for (const name of names) await rm(path.join(folder, name), { recursive: true, force: true });
}
