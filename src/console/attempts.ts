/**
 * The Idempotency-Keys of requests whose answer was not heard: the next click for the same has the same key, in every tab of
 * the browser, after a reload and after another sign-in. So it is done once, and at the price that is shown now. Requests
 * are stored as hashes, in which the next user of the browser reads nothing.
 */
import { now } from './clock.ts';
import { asProblem } from './problem.ts';

interface Attempt {
  key: string;
  /** The time of the last sending. */
  at: number;
}

const STORED_AS = 'enrich-attempt ';
/** After this time the service has forgotten a key. */
const KEPT_MS = 24 * 60 * 60 * 1000;

/** Those of this page, which has not heard the answer when another tab has, or whose browser refuses to store them. */
const ofPage = new Map<string, Attempt>();

const isKept = (sent: Attempt | null | undefined) => sent != null && now() - sent.at < KEPT_MS;

function stored(id: string): Attempt | null {
  try {
    return JSON.parse(localStorage.getItem(id) ?? 'null') as Attempt | null;
  } catch {
    return null;
  }
}

function keep(id: string, sent: Attempt): void {
  ofPage.set(id, sent);
  try {
    for (const other of Object.keys(localStorage)) {
      if (other.startsWith(STORED_AS) && !isKept(stored(other))) localStorage.removeItem(other);
    }
    localStorage.setItem(id, JSON.stringify(sent));
  } catch {
    // Full, or refused by the browser.
  }
}

/** Forgets an attempt, unless a later one has replaced it. */
function end(id: string, { key }: Attempt): void {
  if (ofPage.get(id)?.key === key) ofPage.delete(id);
  if (stored(id)?.key === key) localStorage.removeItem(id);
}

/**
 * Sends a request, which names its account, with the key of its attempt. The attempt ends when the answer is heard; nothing
 * is made of a request that is refused, so its key serves for the next one.
 */
export async function attempt<Answer>(
  request: string,
  send: (key: string) => Promise<Answer>,
): Promise<Answer> {
  const id = STORED_AS + hashOf(request);
  const earlier = [ofPage.get(id), stored(id)].find(isKept);
  const sent = { key: earlier?.key ?? newId(), at: now() };
  keep(id, sent);
  try {
    const answer = await send(sent.key);
    end(id, sent);
    return answer;
  } catch (error) {
    // The earlier request is made, and was another one: the user is told, and may ask for this one too.
    if (asProblem(error).code === 'idempotency_key_reused') end(id, sent);
    throw error;
  }
}

/** FNV-1a of 64 bits; `crypto.subtle` is missing on pages without HTTPS. */
function hashOf(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash.toString(16);
}

/** A random id; `crypto.randomUUID` is missing on pages without HTTPS. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
