/**
 * OpenTelemetry traces, when an endpoint is set. Otherwise nothing of the SDK is loaded, and each function here
 * checks one variable. The row of a batch stores the trace of its upload, because the queue is only a wake-up:
 * each chunk is part of that trace, no matter what wakes it and when. Attributes hold ids, counts and words of
 * this code, never data of callers.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from './config.ts';
import type { RequestSpan, TraceAttributes, Tracing } from './open-telemetry.ts';

/** An unavailable receiver must not delay the end of a process. */
const STOP_MS_MAX = 2_000;

let tracing: Tracing | null = null;

/** Loads the SDK when an endpoint is set. Call it before anything that is to be traced. */
export async function startTracing(
  { otlpEndpoint, traceRatio }: Pick<Config, 'otlpEndpoint' | 'traceRatio'>,
  process: string,
): Promise<void> {
  if (otlpEndpoint === undefined) return;
  const { openTelemetry } = await import('./open-telemetry.ts');
  tracing = openTelemetry({ endpoint: otlpEndpoint, ratio: traceRatio, process });
}

/** Sends the remaining spans and stops tracing. Never throws: traces are lost before anything else is. */
export async function stopTracing(): Promise<void> {
  const stopped = tracing;
  tracing = null;
  const stopping = stopped?.stop().catch(() => {});
  await Promise.race([stopping, delay(STOP_MS_MAX, undefined, { ref: false })]);
}

export function isTracing(): boolean {
  return tracing !== null;
}

export function startRequestSpan(headers: IncomingHttpHeaders): RequestSpan | null {
  return tracing?.startRequest(headers) ?? null;
}

export function traced<T>(
  name: string,
  attributes: TraceAttributes,
  work: () => Promise<T>,
): Promise<T> {
  return tracing === null ? work() : tracing.span(name, attributes, work);
}

/**
 * Runs work that began at `from` (a time of `performance.now`) in a span of the trace stored in a row, whatever
 * span is active. Records nothing when the row stores no trace.
 */
export function tracedIn<T>(
  traceParent: string | null,
  { name, from, attributes }: { name: string; from: number; attributes: TraceAttributes },
  work: () => Promise<T>,
): Promise<T> {
  if (tracing === null) return work();
  return tracing.spanIn(traceParent, { name, from, attributes }, work);
}

export function recordSpan(name: string, from: number, to: number): void {
  tracing?.record(name, from, to);
}

/** Returns the `traceparent` to store in a row; null when tracing is off. */
export function traceToKeep(): string | null {
  return tracing?.parent() ?? null;
}
