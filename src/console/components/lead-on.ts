import { formatTime } from '../format.ts';
import { goTo } from '../router.ts';
import { session } from '../session.ts';
import { announce } from './announcer.tsx';

/**
 * Call it when an action begins. What it returns announces that it is done, and leads to a page unless the user has left this
 * one.
 */
export function fromHere(): (to: string, done: string) => void {
  const from = location.hash;
  const before = session.get();
  return (to, done) => {
    const now = session.get();
    // What another account has done is none of this one's business.
    if (before == null || now?.account.id !== before.account.id) return;
    const { mode } = before.key;
    const isSameMode = now.key.mode === mode;
    if (isSameMode && location.hash === from) goTo(to);
    announce(isSameMode ? done : `${done} That was in ${mode} mode.`);
  };
}

interface Made {
  path: string;
  /** The time at which it was made. */
  at: string;
}

/** Makes something, such as an `export` that is `created`, and opens it; says when an earlier click has made it. */
export async function makeAndOpen(
  noun: string,
  done: string,
  make: (onRepeated: () => void) => Promise<Made>,
): Promise<void> {
  const leadOn = fromHere();
  let isEarlier = false;
  const { path, at } = await make(() => {
    isEarlier = true;
  });
  const earlier = `This ${noun} was ${done} ${formatTime(at)}, by an earlier click. No other was ${done}.`;
  leadOn(path, isEarlier ? earlier : `The ${noun} was ${done}.`);
}
