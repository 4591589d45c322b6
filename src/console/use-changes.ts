/** Changes of what the service holds, saved one after the other as they are made. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Problem } from './problem.ts';
import { useAction } from './use-call.ts';

export interface Changes<Change> {
  /** Changes made here that are not saved yet. */
  pending: Partial<Change>;
  change(part: Change): void;
  /** True when the service has what is shown here. */
  isSaved: boolean;
  problem: Problem | null;
  /** Sends again what was not saved; undefined when a value must be corrected first. */
  retry: (() => void) | undefined;
}

/** One change for several keys of a keyboard, and for several columns that are mapped in a row. */
const PAUSE_MS = 400;

export function useChanges<Change extends object>(
  save: (change: Partial<Change>) => Promise<void>,
): Changes<Change> {
  const [pending, setPending] = useState<Partial<Change>>({});
  const refused = useRef<Partial<Change> | null>(null);
  const { run, isBusy, problem, clear } = useAction(async (sent: Partial<Change>) => {
    try {
      await save(sent);
    } catch (error) {
      refused.current = sent;
      throw error;
    }
    setPending((now) => without(now, sent));
  });
  const isChanged = Object.keys(pending).length > 0;
  useEffect(() => {
    // What was refused is not sent again before it is changed.
    if (!isChanged || isBusy || refused.current === pending) return;
    const timer = setTimeout(() => run(pending), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [pending, isChanged, isBusy, run]);
  return {
    pending,
    change(part) {
      clear();
      setPending((now) => ({ ...now, ...part }));
    },
    isSaved: !isChanged && !isBusy,
    problem,
    retry: problem === null || problem.errors.length > 0 ? undefined : () => run(pending),
  };
}

/** Returns the rest of `now` when `sent` is saved: the changes made again meanwhile. */
function without<Change extends object>(
  now: Partial<Change>,
  sent: Partial<Change>,
): Partial<Change> {
  const left = Object.entries(now).filter(([name, value]) => sent[name as keyof Change] !== value);
  return Object.fromEntries(left) as Partial<Change>;
}

/**
 * Returns the values of a form that differ from those it was opened with. The others are not sent: another tab may have changed
 * them since.
 */
export function changedParts(opened: object, now: object): object {
  const before = new Map<string, unknown>(Object.entries(opened));
  const changed = Object.entries(now).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before.get(name)),
  );
  return Object.fromEntries(changed);
}
