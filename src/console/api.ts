/**
 * Calls of `/v1` in the name of who is signed in. A refusal is a `Problem`. A session that has ended is
 * renewed over the page, and the call is made again; a GET waits for the limits of the key; a POST with a body whose
 * answer was lost is sent again with the same Idempotency-Key, so that nothing is made twice.
 */
import { attempt } from './attempts.ts';
import { heedTime } from './clock.ts';
import { Problem, type ProblemDocument, pageProblem, unreachable } from './problem.ts';
import { askToSignIn, followSession, session, tellChange, tellCredits } from './session.ts';

export interface CallOptions {
  /** Sent as JSON. */
  body?: unknown;
  /** The request of a user, of a POST whose body also has what changes by itself, such as a name; else it is the body. */
  wanted?: string;
  /** Called when the answer is that of an earlier attempt, whose answer was lost. */
  onRepeated?: () => void;
  signal?: AbortSignal;
}

/** A GET that the limits of the key refuse waits for them so long in all, in seconds: a daily limit is told at once. */
const LIMITED_SECONDS_MAX = 15;

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** Makes a call and returns its JSON; undefined for an answer without a body. Throws `Problem`. */
export function call<Answer>(
  method: Method,
  path: string,
  options: CallOptions = {},
): Promise<Answer> {
  return send(method, path, options, async (response) => {
    return (response.status === 204 ? undefined : await response.json()) as Answer;
  });
}

/** Reads a path and returns the whole response, as for its stream. Throws `Problem`. */
export function read(path: string, signal: AbortSignal): Promise<Response> {
  return send('GET', path, { signal }, async (response) => response);
}

/** Makes a call, and returns what is taken of its answer: one that ends before its end was not heard. Throws `Problem`. */
async function send<Answer>(
  method: Method,
  path: string,
  { body, wanted, onRepeated, signal }: CallOptions,
  take: (response: Response) => Promise<Answer>,
): Promise<Answer> {
  const json = body === undefined ? null : JSON.stringify(body);
  const sendOnce = async (key: string | null): Promise<Answer> => {
    const answer: Answering = (shown) =>
      fetch(path, {
        method,
        cache: 'no-store',
        headers: {
          Accept: 'application/json',
          ...shown,
          ...(json === null ? {} : { 'Content-Type': 'application/json' }),
          ...(key === null ? {} : { 'Idempotency-Key': key }),
        },
        body: json,
        signal: signal ?? null,
      }).catch((error: unknown) => {
        if (signal?.aborted) throw error;
        throw unreachable();
      });
    const isRead = method === 'GET';
    const response = await (isRead
      ? whileLimited(() => whileSignedIn(answer), signal)
      : whileSignedIn(answer));
    if (!isRead) tellChange();
    const answered = await take(response).catch((error: unknown) => {
      if (signal?.aborted) throw error;
      throw unreachable();
    });
    if (response.headers.has('Idempotent-Replayed')) onRepeated?.();
    return answered;
  };
  // One without a body changes a state, such as a pause: by its key, a later one would do nothing.
  if (method !== 'POST' || json === null) return sendOnce(null);
  return attempt(nameRequest(method, path, wanted ?? json), sendOnce);
}

/** A request with the account and the mode that the page shows: what was wanted in one is not sent to another. */
export function nameRequest(method: Method, path: string, wanted: string | number): string {
  return JSON.stringify([shownHeaders(), method, path, wanted]);
}

/** Reads again when the limits of the key allow it. Throws what `read` throws, and the reason of the signal. */
async function whileLimited(
  read: () => Promise<Response>,
  signal: AbortSignal | undefined,
): Promise<Response> {
  for (let waited = 0; ; ) {
    try {
      return await read();
    } catch (error) {
      const seconds = error instanceof Problem ? error.retrySeconds : null;
      if (seconds === null) throw error;
      // Each try counts for a second at least, so that their number is bounded too.
      waited += Math.max(1, seconds);
      if (waited > LIMITED_SECONDS_MAX) throw error;
      await pause(seconds * 1000, signal);
    }
  }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

/** Makes a request with these headers: the account and the mode that the page shows. */
type Answering = (shown: Readonly<Record<string, string>>) => Promise<Response>;

/** The service refuses a call of a page whose account or mode another tab has left. */
function shownHeaders(): Record<string, string> {
  const shown = session.get();
  if (!shown) return {};
  return { 'Enrich-Account': shown.account.id, 'Enrich-Mode': shown.key.mode };
}

/**
 * Returns the answer when it is a good one; asks to sign in when the session has ended, and then once
 * more for the answer, in the account and mode in which it was asked for first. Throws the `Problem` of any other.
 */
export async function whileSignedIn(answering: Answering): Promise<Response> {
  const shown = shownHeaders();
  const answer = () => answering(shown);
  let response = await answer();
  let problem = await problemOf(response);
  while (problem !== null && isSignedOut(problem)) {
    if (!(await askToSignIn())) throw otherAccount();
    response = await answer();
    problem = await problemOf(response);
  }
  heedTime(response);
  const credits = response.headers.get('X-Credits-Remaining');
  // An answer to the account before may come late.
  const isOwn = shown['Enrich-Account'] === session.get()?.account.id;
  if (credits !== null && isOwn) tellCredits(Number(credits));
  if (problem === null) return response;
  if (['account_changed', 'mode_changed'].includes(problem.code)) await followSession();
  throw problem;
}

function isSignedOut({ code }: Problem): boolean {
  return ['session_expired', 'invalid_key', 'key_revoked'].includes(code);
}

async function problemOf(response: Response): Promise<Problem | null> {
  if (response.ok) return null;
  const document: unknown = await response.json().catch(() => ({}));
  return new Problem(response.status, document as ProblemDocument);
}

const otherAccount = () =>
  pageProblem('other_account', 'You signed in to another account or mode: nothing was done there.');
