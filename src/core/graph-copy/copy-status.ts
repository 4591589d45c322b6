/** The state of the local copy, for operators. */
import type { Sql } from '../db/client.ts';
import { CHANGED_MAX } from './changed-records.ts';
import { type ChangesSince, readChangesSince } from './copy.sql.ts';
import { type Manifest, parseManifest, readManifestText, UnusableCopy } from './manifest.ts';
import { openCopy } from './open-copy.ts';

export interface CopyStatus {
  /** Null when there is none, or its manifest is unreadable. */
  copy: Manifest | null;
  /** Records that changed since it was built; null when that is not known. */
  changed: number | null;
  /** Why lists are not matched from it; null when they are. */
  problem: string | null;
}

/** Checks the copy in a folder as a worker does before it uses it, and drops nothing. */
export async function readCopyStatus(sql: Sql, folder: string): Promise<CopyStatus> {
  const text = await readManifestText(folder);
  if (text === null) return { copy: null, changed: null, problem: 'there is no copy' };
  let copy: Manifest | null = null;
  try {
    copy = parseManifest(text);
    (await openCopy(folder, copy)).close();
  } catch (error) {
    if (!(error instanceof UnusableCopy)) throw error;
    return { copy, changed: null, problem: error.message };
  }
  const changes = await readChangesSince(sql, copy, CHANGED_MAX);
  const problem = problemOf(changes);
  const { people, companies } = changes;
  const changed = problem === null ? people.ids.length + companies.ids.length : null;
  return { copy, changed, problem };
}

/** Returns why a copy may not be used after these changes; null when it may. */
export function problemOf(
  changes: Pick<ChangesSince, 'isKnown' | 'isWhole' | 'hasDeleted'>,
): string | null {
  if (!changes.isKnown) {
    return 'the graph has another history, or its changes since are no longer known';
  }
  if (changes.isWhole) return TOO_MUCH;
  // Their bytes are to go, and files of their own are the only place where they are.
  return changes.hasDeleted ? 'people were deleted from the graph since it was built' : null;
}

export const TOO_MUCH = 'too much of the graph has changed since it was built';
