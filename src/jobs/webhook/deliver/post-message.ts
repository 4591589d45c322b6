/**
 * One attempt: a POST to the checked addresses only. It follows no redirect, inflates no body, reads little of
 * the response, and ends at a timeout whatever the receiver does.
 */
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { finished } from 'node:stream/promises';
import { must } from '../../../core/lib/assert.ts';
import { findTarget, type Target, TargetRefused, type TargetRules } from '../target.ts';

/** Standard Webhooks: between 15 and 30 s. */
const ATTEMPT_MS_MAX = 20_000;
const HEADER_BYTES_MAX = 16_384;
/**
 * Maximum read of a connection: the headers, with interim responses and all else before them, and 4 KiB of a response, so
 * that a short one can end normally. Nothing is kept.
 */
const READ_BYTES_MAX = HEADER_BYTES_MAX + 4_096;

export interface Message {
  url: string;
  headers: Record<string, string>;
  body: string;
}

export interface Attempt {
  /** Null when there was no response. */
  status: number | null;
  /** Why it failed, for the owner of the webhook; null for success. */
  error: string | null;
  /** The Retry-After header as it was sent. */
  retryAfter: string | null;
  durationMs: number;
}

/** Sends a message once. Does not throw: failures are in the returned attempt. */
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
    const response = await send(target, message, timeout);
    await skim(response);
    const status = must(response.statusCode, 'status of a response');
    return ended({
      status,
      error: status >= 200 && status < 300 ? null : explainStatus(status),
      retryAfter: response.headers['retry-after'] ?? null,
    });
  } catch (error) {
    const why = timeout.aborted ? `no response within ${timeoutMs / 1000} s` : explain(error);
    return ended({ status: null, error: why, retryAfter: null });
  }
}

function rejectAt(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/** Sends the message and resolves with the response headers. */
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
      // A new connection, never one made before the addresses were checked.
      agent: false,
      maxHeaderSize: HEADER_BYTES_MAX,
      signal,
      ...(addresses === null ? {} : { lookup: pinTo(addresses) }),
    });
    sent.on('response', resolve);
    sent.on('error', reject);
    sent.on('socket', (socket) => {
      let bytes = 0;
      socket.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > READ_BYTES_MAX) sent.destroy(new Error('its response is too long'));
      });
    });
    // For example, a response that switches protocols.
    sent.on('close', () => reject(new Error('the connection was closed without a response')));
    sent.end(body);
  });
}

/** A lookup function that returns only the addresses that were checked. */
function pinTo(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, { all }, callback) => {
    const first = must(found[0], 'address of a webhook');
    if (all) callback(null, found);
    else callback(null, first.address, first.family);
  };
}

/** Reads a short response to its end. The status counts whatever follows. */
async function skim(response: IncomingMessage): Promise<void> {
  await finished(response.resume()).catch(() => {
    // It broke off, was too long or took too long.
  });
}

function explainStatus(status: number): string {
  return status >= 300 && status < 400
    ? `responded ${status}; redirects are not followed`
    : `responded ${status}`;
}

function explain(error: unknown): string {
  if (error instanceof TargetRefused) return `the address ${error.message}`;
  const { code, message } = error as NodeJS.ErrnoException;
  return `cannot be reached: ${code ?? message}`;
}
