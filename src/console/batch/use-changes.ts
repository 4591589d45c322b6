/** Changes of a held list, saved one after the other as they are made. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { call } from '../api.ts';
import type { Problem } from '../problem.ts';
import { useAction } from '../use-call.ts';
import type { Batch } from './batch.ts';
import { tellMovedOn } from './moved-on.ts';
import type { Live } from './use-live-batch.ts';

/** The body of `PATCH /v1/batches/:id`. */
export interface Change {
  name?: string;
  mapping?: Record<string, number[]>;
  fields?: readonly string[] | null;
  dedupe?: boolean;
  match?: 'exact' | 'likely';
  require_agreement?: boolean;
  max_credits?: number | null;
  default_region?: string | null;
}

export interface Changes {
  /** Changes made here that are not saved yet. */
  pending: Change;
  change(part: Change): void;
  /** True when the service has the list as it is shown here. */
  isSaved: boolean;
  problem: Problem | null;
}

/** One change for several keys of a keyboard, and for several columns that are mapped in a row. */
const PAUSE_MS = 400;

/** `onSaved` is called with each change that the service has taken. */
export function useChanges(
  { id }: Batch,
  live: Live<Batch>,
  onSaved: (change: Change) => void,
): Changes {
  const [pending, setPending] = useState<Change>({});
  const refused = useRef<Change | null>(null);
  const { run, isBusy, problem, clear } = useAction(async (sent: Change) => {
    try {
      live.show(await tellMovedOn(live, call('PATCH', `/v1/batches/${id}`, { body: sent })));
    } catch (error) {
      refused.current = sent;
      throw error;
    }
    setPending((now) => without(now, sent));
    onSaved(sent);
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
  };
}

/** Returns the rest of `now` when `sent` is saved: the changes made again meanwhile. */
function without(now: Change, sent: Change): Change {
  const left = Object.entries(now).filter(([name, value]) => sent[name as keyof Change] !== value);
  return Object.fromEntries(left);
}
