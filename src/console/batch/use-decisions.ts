/** Decisions about ambiguous rows: each is sent at once, or with others after the one that is under way. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { call } from '../api.ts';
import { asProblem, type Problem, pageProblem } from '../problem.ts';
import { type Batch, isFinal } from './batch.ts';

const LOOK_AGAIN_MS = 500;

/** A choice among the candidates of a row; null for none of them. */
export interface Decision {
  row: number;
  id: number | null;
}

/** The outcome of the choice for a row. */
export type Progress = 'waiting' | 'done' | 'refused';

export interface Decisions {
  /** By row. */
  chosen: ReadonlyMap<number, { id: number | null; progress: Progress }>;
  problem: Problem | null;
  /** Takes a choice; a row that has one keeps it, unless it was refused. */
  decide(decision: Decision): void;
}

/** Makes the decisions of a list. */
export function useDecisions(path: string): Decisions {
  const [chosen, setChosen] = useState<Decisions['chosen']>(new Map());
  const [problem, setProblem] = useState<Problem | null>(null);
  const waiting = useRef<Decision[]>([]);
  const isSending = useRef(false);
  const isGone = useRef(false);
  useEffect(() => {
    isGone.current = false;
    return () => {
      isGone.current = true;
    };
  }, []);
  const mark = (decisions: readonly Decision[], progress: Progress) =>
    setChosen((before) => {
      const after = new Map(before);
      for (const { row, id } of decisions) after.set(row, { id, progress });
      return after;
    });
  const sendAll = async () => {
    if (isSending.current) return;
    isSending.current = true;
    while (waiting.current.length > 0 && !isGone.current) {
      const decisions = waiting.current.splice(0);
      try {
        await send(path, decisions, () => isGone.current);
        mark(decisions, 'done');
      } catch (error) {
        mark(decisions, 'refused');
        setProblem(asProblem(error));
      }
    }
    isSending.current = false;
  };
  return {
    chosen,
    problem,
    decide(decision) {
      const before = chosen.get(decision.row);
      const isTaken = waiting.current.some(({ row }) => row === decision.row);
      if (isTaken || (before !== undefined && before.progress !== 'refused')) return;
      setProblem(null);
      waiting.current.push(decision);
      mark([decision], 'waiting');
      void sendAll();
    },
  };
}

/** Sends decisions, after another retry of the list if one runs, and waits until they are made. Throws `Problem`. */
async function send(
  path: string,
  decisions: readonly Decision[],
  isGone: () => boolean,
): Promise<void> {
  for (;;) {
    try {
      const made = await call<Batch>('POST', `${path}/decisions`, { body: { decisions } });
      return await untilMade(made.id, isGone);
    } catch (error) {
      const { code, more } = asProblem(error);
      const other = code === 'invalid_state' ? more.batch_id : undefined;
      if (typeof other !== 'string' || isGone()) throw error;
      await untilMade(other, isGone);
    }
  }
}

/** Waits for the end of a retry. Throws `Problem` when it waits for a user, or failed. */
async function untilMade(id: string, isGone: () => boolean): Promise<void> {
  while (!isGone()) {
    const { state } = await call<Batch>('GET', `/v1/batches/${id}`);
    if (state === 'completed' || state === 'cancelled') return;
    if (isFinal(state))
      throw pageProblem('not_decided', 'Your choice could not be saved. Try again.');
    if (state === 'paused' || state === 'ready') {
      throw pageProblem(
        'retry_waits',
        'A retry of this list is paused or waiting to be started. Open it from the list, then continue or cancel it.',
      );
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
}
