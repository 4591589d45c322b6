/** The signed-in user, as the server last reported it, shared by all tabs. */
import { heedTime } from './clock.ts';
import { Problem, type ProblemDocument, unreachable } from './problem.ts';
import { createStore } from './store.ts';

export type Mode = 'live' | 'test';

export interface Session {
  account: { id: string; name: string; email: string | null };
  key: { prefix: string; mode: Mode; scopes: string[] };
  /** Modes that the session can work in. */
  modes: Mode[];
  expires_at: string;
  limits: { upload_bytes: number };
}

export type Credentials = { key: string } | { email: string; password: string } | { link: string };

/** Undefined until the server has been asked, null without a signed-in user. */
export const session = createStore<Session | null | undefined>(undefined);

/** Set while the user must sign in again before interrupted calls continue. */
export const signInAgain = createStore<{ done: (isSame: boolean) => void } | null>(null);

/** Credits of the account that nothing has reserved, as the last answer told them. */
export const creditsRemaining = createStore<number | null>(null);

/** The mode that another tab has switched the session to; null when it is the one of this page. */
export const modeElsewhere = createStore<Mode | null>(null);

/** Counts the changes that were made to data, in this tab or in another one. */
export const dataChanged = createStore(0);

type Told = { kind: 'data' } | { kind: 'credits'; account: string; remaining: number };
const told = new BroadcastChannel('enrich-data');
told.addEventListener('message', ({ data }: MessageEvent<Told>) => {
  if (data.kind === 'data') dataChanged.set(dataChanged.get() + 1);
  else if (data.account === session.get()?.account.id) creditsRemaining.set(data.remaining);
});

/** Tells all tabs that something was changed: their lists are read again. */
export function tellChange(): void {
  dataChanged.set(dataChanged.get() + 1);
  told.postMessage({ kind: 'data' } satisfies Told);
}

/** Shows what is left of the credits, in all tabs of the account. */
export function tellCredits(remaining: number): void {
  if (remaining === creditsRemaining.get()) return;
  creditsRemaining.set(remaining);
  const account = session.get()?.account.id;
  if (account !== undefined)
    told.postMessage({ kind: 'credits', account, remaining } satisfies Told);
}

const tabs = new BroadcastChannel('enrich-session');
tabs.addEventListener('message', () => void followSession());

/** Shows who is signed in. */
function show(now: Session | null): void {
  if (session.get()?.account.id !== now?.account.id) creditsRemaining.set(null);
  session.set(now);
  modeElsewhere.set(null);
}

/** Counts the calls about the session. */
let asked = 0;

/**
 * Asks who is signed in now. A page in the other mode stays as it is, with what was typed, until it is switched. Without
 * an answer the page stays, too: its next call is refused, and asks again.
 */
export async function followSession(): Promise<void> {
  const asking = callSession<Session | null>('GET').catch(() => undefined);
  const latest = asked;
  const now = await asking;
  // A later call has a newer answer.
  if (now === undefined || latest !== asked) return;
  const shown = session.get();
  const isSame = shown != null && now !== null && shown.account.id === now.account.id;
  const isElsewhere = isSame && shown.modes.length > 1 && shown.key.mode !== now.key.mode;
  if (isElsewhere) modeElsewhere.set(now.key.mode);
  else show(now);
  // Another tab was first to sign in again.
  if (now !== null) endAsking(isSame && !isElsewhere);
}

/** Ends the question to sign in again. */
function endAsking(isSame: boolean): void {
  const again = signInAgain.get();
  signInAgain.set(null);
  again?.done(isSame);
}

/** The problem of the link that led here; null without one. */
export const linkProblem = createStore<Problem | null>(null);

/** Signs in by the link that led here, if one did; else asks the server who is signed in. */
export async function loadSession(link: string | null): Promise<void> {
  if (link !== null) {
    try {
      return await signIn({ link });
    } catch (error) {
      if (error instanceof Problem) linkProblem.set(error);
    }
  }
  show(await callSession<Session | null>('GET'));
}

export async function signIn(credentials: Credentials): Promise<void> {
  const before = session.get() ?? null;
  let now = await callSession<Session>('POST', credentials);
  const isSame = before?.account.id === now.account.id && now.modes.includes(before.key.mode);
  if (isSame && before.key.mode !== now.key.mode) {
    now = await callSession<Session>('PATCH', { mode: before.key.mode });
  }
  show(now);
  tabs.postMessage('changed');
  endAsking(isSame);
}

export async function switchMode(mode: Mode): Promise<void> {
  show(await callSession<Session>('PATCH', { mode }));
  tabs.postMessage('changed');
}

export async function signOut(): Promise<void> {
  await callSession<null>('DELETE');
  show(null);
  tabs.postMessage('changed');
}

let asking: Promise<boolean> | null = null;

/**
 * Asks to sign in again over the page. Resolves to true when the same account did, in the same mode: what
 * was under way may go on.
 */
export function askToSignIn(): Promise<boolean> {
  asking ??= new Promise<boolean>((resolve) => signInAgain.set({ done: resolve })).finally(() => {
    asking = null;
  });
  return asking;
}

async function callSession<Answer>(method: string, body?: unknown): Promise<Answer> {
  asked++;
  const response = await fetch('/console/session', {
    method,
    cache: 'no-store',
    ...(body === undefined
      ? {}
      : { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
  }).catch(() => {
    throw unreachable();
  });
  heedTime(response);
  if (response.status === 204) return null as Answer;
  const answer: unknown = await response.json().catch(() => ({}));
  if (!response.ok) throw new Problem(response.status, answer as ProblemDocument);
  return answer as Answer;
}
