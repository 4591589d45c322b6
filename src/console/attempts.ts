/**
 * Requests whose answer was not heard, with their Idempotency-Keys. The tab keeps them, also when it is reloaded, or restored
 * after a crash: the next click sends the same request again.
 */
import { now } from './clock.ts';
import { Problem } from './problem.ts';
import { session } from './session.ts';

interface Attempt {
  key: string;
  /** The body as it was sent first. */
  text: string | null;
  /** The id of the account. */
  account: string | undefined;
  /** The time of the first sending. */
  at: number;
}

const STORED_AS = 'enrich-attempts';
/** After this time the service has forgotten a key, and a request would be sent with the name and price of that day. */
const KEPT_MS = 24 * 60 * 60 * 1000;

const attempts = new Map<string, Attempt>(stored());

function stored(): [string, Attempt][] {
  try {
    return JSON.parse(sessionStorage.getItem(STORED_AS) ?? '[]') as [string, Attempt][];
  } catch {
    return [];
  }
}

function store(): void {
  try {
    sessionStorage.setItem(STORED_AS, JSON.stringify([...attempts]));
  } catch {
    // Full, or refused by the browser: the attempts last as long as the page.
  }
}

/** Forgets the other attempts. */
function keep(isKept: (attempt: Attempt) => boolean): void {
  for (const [request, sent] of attempts) if (!isKept(sent)) attempts.delete(request);
  store();
}

let before = session.get();
session.follow(() => {
  const shown = session.get();
  // The bodies are not for the next user of the tab. After a reload, one whose session has ended may sign in again.
  if (before !== undefined || shown !== null) keep((sent) => sent.account === shown?.account.id);
  before = shown;
});

/** Sends a request by its attempt, the earlier one if there is one, which ends when `send` returns or is refused. */
export async function attempt<Answer>(
  request: string,
  text: string | null,
  send: (attempt: Attempt) => Promise<Answer>,
): Promise<Answer> {
  keep(({ at }) => now() - at < KEPT_MS);
  const earlier = attempts.get(request);
  const account = session.get()?.account.id;
  const sent = earlier ?? { key: newId(), text, account, at: now() };
  attempts.set(request, sent);
  store();
  const end = () => {
    attempts.delete(request);
    store();
  };
  try {
    const answer = await send(sent);
    end();
    return answer;
  } catch (error) {
    // What was refused is not made, and may be corrected.
    if (isRefusal(error, earlier !== undefined)) end();
    throw error;
  }
}

/**
 * Returns true for an answer after which the request has done nothing. Only the service says so, by a code: a proxy may
 * answer 408 or 499 for a request that is made. Sent again, it may be refused by a limit although it was made before.
 */
function isRefusal(error: unknown, isAgain: boolean): boolean {
  if (!(error instanceof Problem) || error.code === 'unknown') return false;
  if (error.code === 'idempotency_in_progress') return false;
  // These are checked before an earlier request with the key is looked for.
  const isBefore =
    [401, 403, 429].includes(error.status) ||
    ['account_changed', 'mode_changed'].includes(error.code);
  if (isAgain && isBefore) return false;
  return error.status >= 400 && error.status < 500;
}

/** A random id; `crypto.randomUUID` is missing on pages without HTTPS. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
