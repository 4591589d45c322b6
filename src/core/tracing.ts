/**
 * Traces in OpenTelemetry's form, where an endpoint is set. Without one nothing of it is loaded, and each
 * function here is one look at a variable. A batch carries the trace of its upload in its row, because the
 * queue is only a wake-up: whoever wakes one of its chunks, and however late, the chunk is part of that trace.
 * Attributes hold ids, counts and words of this code, never what was sent.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from './config.ts';
import type { RequestSpan, TraceAttributes, Tracing } from './open-telemetry.ts';

/** A receiver that is away does not keep a process from ending. */
const STOP_MS_MAX = 2_000;

let tracing: Tracing | null = null;

/** Loads the SDK where an endpoint is set; before everything that is to be traced. */
export async function startTracing(
  { otlpEndpoint, traceRatio }: Pick<Config, 'otlpEndpoint' | 'traceRatio'>,
  process: string,
): Promise<void> {
  if (otlpEndpoint === undefined) return;
  const { openTelemetry } = await import('./open-telemetry.ts');
  tracing = openTelemetry({ endpoint: otlpEndpoint, ratio: traceRatio, process });
}

/** Sends what is left, and traces no more. Never throws: traces are lost before anything else is. */
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
 * Runs work that began at `from` (as `performance.now` gives it) in a span of the trace that a row keeps,
 * whatever is active; of a row that keeps none nothing is recorded.
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

/** What a row keeps, to be continued; null while nothing is traced. */
export function traceToKeep(): string | null {
  return tracing?.parent() ?? null;
}
