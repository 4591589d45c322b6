/** How jobs become part of the trace of the upload that they are about. */
import { randomBytes } from 'node:crypto';
import type { JobsOptions, QueueOptions } from 'bullmq';
import { isTracing } from '../../core/tracing.ts';

export type QueueTelemetry = NonNullable<QueueOptions['telemetry']>;

/** What queues and workers are opened with while there are traces; loaded then alone. */
export async function loadQueueTelemetry(): Promise<QueueTelemetry | undefined> {
  if (!isTracing()) return undefined;
  const { BullMQOtel } = await import('bullmq-otel');
  return new BullMQOtel({ tracerName: 'bullmq' });
}

/**
 * The option of a job that makes it part of this trace (a W3C traceparent), whoever wakes it. Null for a batch
 * that was made while nothing was traced: its job is part of none. Without either it is part of what is active.
 */
export function traceOption(trace: string | null | undefined): Pick<JobsOptions, 'telemetry'> {
  if (trace === undefined || !isTracing()) return {};
  return { telemetry: { metadata: JSON.stringify({ traceparent: trace ?? untraced() }) } };
}

/** A trace that nobody records. */
function untraced(): string {
  return `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-00`;
}
