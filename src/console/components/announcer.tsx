/** Short messages at the edge of the page, and what only screen readers say. */
import { createStore, useStore } from '../store.ts';

interface Message {
  text: string;
  /** False for what the page shows anyway. */
  isShown: boolean;
}

const SHOWN_MS = 6_000;
const latest = createStore<Message | null>(null);

/** Says that something has happened; the message goes by itself. */
export function announce(text: string): void {
  say({ text, isShown: true });
}

/** Says to screen readers what others see on the page. */
export function readOut(text: string): void {
  say({ text, isShown: false });
}

function say(message: Message): void {
  latest.set(message);
  setTimeout(() => {
    if (latest.get() === message) latest.set(null);
  }, SHOWN_MS);
}

export function Announcer() {
  const message = useStore(latest);
  return (
    <div class="announcer" role="status">
      {message && <p class={message.isShown ? 'toast' : 'unseen'}>{message.text}</p>}
    </div>
  );
}
