/** Decisions about ambiguous rows: they can be changed until they are saved, which charges them together. */
import { useEffect, useRef } from 'preact/hooks';
import { call } from '../api.ts';
import { asProblem, pageProblem } from '../problem.ts';
import { session } from '../session.ts';
import { createStore, useStore } from '../store.ts';
import { type Action, useAction } from '../use-call.ts';
import { useUnloadWarning } from '../use-unload-warning.ts';
import { type Batch, isFinal } from './batch.ts';

const LOOK_AGAIN_MS = 500;

/** A choice among the candidates of a row; `id` is null for none of them. */
interface Choice {
  id: number | null;
  isSaved: boolean;
}

/** By row. */
type Choices = ReadonlyMap<number, Choice>;

export interface Decisions {
  choices: Choices;
  /** Chosen and not saved. */
  unsaved: readonly { row: number; id: number | null }[];
  /** Takes a choice for a row, in place of another one; undefined clears it. Saved choices stay. */
  choose(row: number, id: number | null | undefined): void;
  saving: Action<void>;
  /** Forgets the choices of a list that is gone. */
  forget(): void;
}

/** The choices of each list, by its path: they stay when the page changes, as by Back. */
const choicesOf = createStore<ReadonlyMap<string, Choices>>(new Map());

let account = session.get()?.account.id;
session.follow(() => {
  const shown = session.get()?.account.id;
  if (shown !== account) choicesOf.set(new Map());
  account = shown;
});

function change(path: string, changed: (choices: Choices) => Choices): void {
  const lists = choicesOf.get();
  choicesOf.set(new Map([...lists, [path, changed(lists.get(path) ?? new Map())]]));
}

function unsavedOf(choices: Choices): Decisions['unsaved'] {
  return [...choices].flatMap(([row, { id, isSaved }]) => (isSaved ? [] : { row, id }));
}

/** While there are choices that are not saved, the browser asks before it leaves the console. */
export function useChoicesWarning(): void {
  const lists = [...useStore(choicesOf).values()];
  useUnloadWarning(lists.some((choices) => unsavedOf(choices).length > 0));
}

/** Collects the decisions of a list, and saves them. */
export function useDecisions(path: string): Decisions {
  const choices = useStore(choicesOf).get(path) ?? new Map();
  const isGone = useRef(false);
  useEffect(() => {
    isGone.current = false;
    return () => {
      isGone.current = true;
    };
  }, []);
  const unsaved = unsavedOf(choices);
  const saving = useAction(async () => {
    await send(path, unsaved, () => isGone.current);
    const saved = unsaved.map(({ row, id }) => [row, { id, isSaved: true }] as const);
    change(path, (before) => new Map([...before, ...saved]));
  });
  return {
    choices,
    unsaved,
    choose(row, id) {
      // Also what is being saved: its price was accepted.
      if (saving.isBusy) return;
      saving.clear();
      change(path, (before) => {
        if (before.get(row)?.isSaved) return before;
        const after = new Map(before);
        if (id === undefined) after.delete(row);
        else after.set(row, { id, isSaved: false });
        return after;
      });
    },
    saving,
    forget: () => change(path, () => new Map()),
  };
}

/**
 * Sends decisions, after another retry of the list if one runs, and waits until they are made. Throws `Problem`, also when
 * their retry ended without having made all of them.
 */
async function send(
  path: string,
  decisions: Decisions['unsaved'],
  isGone: () => boolean,
): Promise<void> {
  for (;;) {
    try {
      const made = await call<Batch>('POST', `${path}/decisions`, { body: { decisions } });
      if ((await untilEnded(made.id, isGone)) === 'completed' || isGone()) return;
    } catch (error) {
      const { code, more } = asProblem(error);
      const other = code === 'invalid_state' ? more.batch_id : undefined;
      if (typeof other !== 'string' || isGone()) throw error;
      await untilEnded(other, isGone);
      continue;
    }
    throw pageProblem(
      'not_decided',
      'Not all of your choices could be saved. Reload the page to see which rows are left.',
    );
  }
}

/** Waits for the end of a retry, and returns its state. Throws `Problem` when it waits for a user. */
async function untilEnded(id: string, isGone: () => boolean): Promise<Batch['state'] | undefined> {
  while (!isGone()) {
    const { state } = await call<Batch>('GET', `/v1/batches/${id}`);
    if (isFinal(state)) return state;
    if (state === 'paused' || state === 'ready') {
      throw pageProblem(
        'retry_waits',
        'A retry of this list is paused or waiting to be started. Open it from the list, then continue or cancel it.',
      );
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
  return undefined;
}
