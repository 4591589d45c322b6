/** Links jobs to the trace of their upload. */
import { randomBytes } from 'node:crypto';
import type { JobsOptions, QueueOptions } from 'bullmq';
import { isTracing } from '../../core/tracing.ts';

export type QueueTelemetry = NonNullable<QueueOptions['telemetry']>;

/** The telemetry option of queues and workers; loaded only when tracing is on. */
export async function loadQueueTelemetry(): Promise<QueueTelemetry | undefined> {
  if (!isTracing()) return undefined;
  const { BullMQOtel } = await import('bullmq-otel');
  return new BullMQOtel({ tracerName: 'bullmq' });
}

/**
 * The job option that links a job to this trace (a W3C traceparent), whichever process wakes it. Null for a
 * batch created without tracing: its job has no trace. Undefined keeps the active trace.
 */
export function traceOption(trace: string | null | undefined): Pick<JobsOptions, 'telemetry'> {
  if (trace === undefined || !isTracing()) return {};
  const metadata = JSON.stringify({ traceparent: trace ?? untraced() });
  // Otherwise the queue replaces it by the active trace.
  return { telemetry: { metadata, omitContext: true } };
}

/** A trace that is not recorded. */
function untraced(): string {
  return `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-00`;
}
