/** Short messages at the edge of the page, and what only screen readers say. */
import { useLayoutEffect } from 'preact/hooks';
import { asProblem } from '../problem.ts';
import { address, pathNow } from '../router.ts';
import { session } from '../session.ts';
import { createStore, type Store, useStore } from '../store.ts';

interface Message {
  text: string;
  /** The page that it is about. */
  path: string;
}

const SHOWN_MS = 6_000;
/** Apart, so that what is read out takes no message from the page. */
const shown = createStore<Message | null>(null);
const unseen = createStore<Message | null>(null);

/**
 * Says that something has happened. The message goes by itself, and with the page: who leads to another one does that
 * first.
 */
export function announce(text: string): void {
  say(shown, { text, path: pathNow() });
}

/** Waits for an action whose button has no place for a problem, and announces the problem when it fails. */
export async function announceProblem(acting: Promise<void>): Promise<void> {
  await acting.catch((error) => announce(asProblem(error).message));
}

/** Says to screen readers what others see on the page. */
export function readOut(text: string): void {
  say(unseen, { text, path: pathNow() });
}

function say(latest: Store<Message | null>, message: Message): void {
  latest.set(message);
  setTimeout(() => {
    if (latest.get() === message) latest.set(null);
  }, SHOWN_MS);
}

export function Announcer() {
  const toast = useStore(shown);
  const words = useStore(unseen);
  const { path } = useStore(address);
  const isSignedIn = useStore(session) !== null;
  useLayoutEffect(() => {
    if (!isSignedIn || shown.get()?.path !== path) shown.set(null);
  }, [path, isSignedIn]);
  return (
    <div class="announcer" role="status">
      {toast && <p class="toast">{toast.text}</p>}
      {words && <p class="unseen">{words.text}</p>}
    </div>
  );
}
