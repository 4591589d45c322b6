import { goTo } from '../router.ts';
import { session } from '../session.ts';
import { announce } from './announcer.tsx';

/** Call it when an action begins. What it returns announces that it is done, and leads to a page unless the user has left this one. */
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
