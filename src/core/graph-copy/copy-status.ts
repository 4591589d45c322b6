/** The state of the local copy, for operators. */
import type { Sql } from '../db/client.ts';
import { CHANGED_MAX } from './changed-records.ts';
import { type ChangesSince, readChangesSince } from './copy.sql.ts';
import {
  lastLayer,
  type Manifest,
  parseManifest,
  readManifestText,
  UnusableCopy,
} from './manifest.ts';
import { openCopy } from './open-copy.ts';

export interface CopyStatus {
  /** Null when there is none, or its manifest is unreadable. */
  copy: Manifest | null;
  /** Records that changed since the state that it holds; null when that is not known. */
  changed: number | null;
  /** Why it does not answer; null when it does. */
  problem: string | null;
}

/** Checks the copy in a folder as a worker does before it uses it, and drops nothing. */
export async function readCopyStatus(sql: Sql, folder: string): Promise<CopyStatus> {
  const text = await readManifestText(folder);
  if (text === null) return { copy: null, changed: null, problem: 'there is no copy' };
  let copy: Manifest | null = null;
  try {
    copy = parseManifest(text);
    (await openCopy(folder, copy, { holdsTables: false })).close();
  } catch (error) {
    if (!(error instanceof UnusableCopy)) throw error;
    return { copy, changed: null, problem: error.message };
  }
  const state = lastLayer(copy);
  const options = { idsMax: CHANGED_MAX, wipedTo: state.number };
  const changes = await readChangesSince(sql, state, options);
  const problem = problemOf(changes) ?? (changes.isTooMany ? BEHIND : null);
  const { people, companies } = changes;
  const changed = problem === null ? people.ids.length + companies.ids.length : null;
  return { copy, changed, problem };
}

/** Returns why a copy may not be used after these changes; null when it may. */
export function problemOf(changes: Pick<ChangesSince, 'isKnown' | 'isWhole'>): string | null {
  if (!changes.isKnown) {
    return 'the graph has another history, or its changes since are no longer known';
  }
  return changes.isWhole ? TOO_MUCH : null;
}

export const TOO_MUCH = 'too much of the graph has changed since it was built';
const BEHIND = `more than ${CHANGED_MAX} records changed since, and a worker rolls it forward`;
