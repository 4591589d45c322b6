/** Short messages at the edge of the page, read out by screen readers. */
import { createStore, useStore } from '../store.ts';

interface Message {
  id: number;
  text: string;
}

const SHOWN_MS = 6_000;
const messages = createStore<Message[]>([]);
let lastId = 0;

/** Says that something has happened; the message goes by itself. */
export function announce(text: string): void {
  lastId += 1;
  const id = lastId;
  messages.set([...messages.get().slice(-2), { id, text }]);
  setTimeout(() => messages.set(messages.get().filter((message) => message.id !== id)), SHOWN_MS);
}

export function Announcer() {
  return (
    <div class="announcer" role="status">
      {useStore(messages).map(({ id, text }) => (
        <p key={id}>{text}</p>
      ))}
    </div>
  );
}
