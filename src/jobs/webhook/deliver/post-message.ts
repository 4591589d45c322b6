/**
 * One attempt: a POST to the checked addresses, and no other. No redirect is followed, no body is inflated,
 * little of the answer is read, and after a while it is over whatever the receiver does.
 */
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { must } from '../../../core/lib/assert.ts';
import { findTarget, type Target, TargetRefused, type TargetRules } from '../target.ts';

/** Standard Webhooks: between 15 and 30 s. */
const ATTEMPT_MS_MAX = 20_000;
/** What is read of an answer, so that its sender can end it in peace. Nothing of it is kept. */
const ANSWER_BYTES_MAX = 4_096;
const HEADER_BYTES_MAX = 16_384;

export interface Message {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** What an attempt came to. */
export interface Attempt {
  /** Null when there was no answer. */
  status: number | null;
  /** Why it did not succeed, for the owner of the webhook; null for success. */
  error: string | null;
  /** The answer's header Retry-After, as it was sent. */
  retryAfter: string | null;
  durationMs: number;
}

/** Sends a message once. It does not throw: whatever goes wrong is told by what it returns. */
export async function postMessage(
  message: Message,
  rules: TargetRules,
  timeoutMs = ATTEMPT_MS_MAX,
): Promise<Attempt> {
  const startedAt = performance.now();
  const timeout = AbortSignal.timeout(timeoutMs);
  const ended = (attempt: Omit<Attempt, 'durationMs'>) => ({
    ...attempt,
    durationMs: Math.round(performance.now() - startedAt),
  });
  try {
    const target = await Promise.race([findTarget(message.url, rules), rejectAt(timeout)]);
    const answer = await send(target, message, timeout);
    await skim(answer);
    const status = must(answer.statusCode, 'status of an answer');
    return ended({
      status,
      error: status >= 200 && status < 300 ? null : explainStatus(status),
      retryAfter: answer.headers['retry-after'] ?? null,
    });
  } catch (error) {
    const why = timeout.aborted ? `no answer within ${timeoutMs / 1000} s` : explain(error);
    return ended({ status: null, error: why, retryAfter: null });
  }
}

function rejectAt(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/** Sends the message and resolves with the head of the answer. */
function send(
  { url, addresses }: Target,
  { headers, body }: Message,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method: 'POST',
      headers: { ...headers, 'Content-Length': String(Buffer.byteLength(body)) },
      // A connection of its own: none that was made before the addresses were checked.
      agent: false,
      maxHeaderSize: HEADER_BYTES_MAX,
      signal,
      ...(addresses === null ? {} : { lookup: pinTo(addresses) }),
    });
    sent.on('response', resolve);
    sent.on('error', reject);
    // Such as an answer that changes the protocol.
    sent.on('close', () => reject(new Error('the connection was closed without an answer')));
    sent.end(body);
  });
}

/** Answers the question for a host's addresses with those that were checked. */
function pinTo(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, { all }, callback) => {
    const first = must(found[0], 'address of a webhook');
    if (all) callback(null, found);
    else callback(null, first.address, first.family);
  };
}

/** Reads the answer to its end, as far as that is near: its status counts however it goes on. */
async function skim(answer: IncomingMessage): Promise<void> {
  let bytes = 0;
  try {
    for await (const chunk of answer) {
      bytes += (chunk as Buffer).length;
      // Leaving the loop closes the connection.
      if (bytes > ANSWER_BYTES_MAX) return;
    }
  } catch {
    // It broke off or took too long.
  }
}

function explainStatus(status: number): string {
  return status >= 300 && status < 400
    ? `answered ${status}, and redirects are not followed`
    : `answered ${status}`;
}

function explain(error: unknown): string {
  if (error instanceof TargetRefused) return `the address ${error.message}`;
  const { code, message } = error as NodeJS.ErrnoException;
  return `cannot be reached: ${code ?? message}`;
}
