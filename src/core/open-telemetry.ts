/**
 * The OpenTelemetry SDK behind `tracing.ts`, loaded only when an endpoint is set. Its packages are imported one by
 * one: the SDK's bundle would bring gRPC and every exporter.
 */
import type { IncomingHttpHeaders } from 'node:http';
import {
  type Context,
  context,
  isSpanContextValid,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  ParentBasedSampler,
  RandomIdGenerator,
  type Sampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-node';

export type TraceAttributes = Record<string, string | number | boolean>;

/** A request in progress. */
export interface RequestSpan {
  traceId: string;
  /** Runs the request's handler; its spans are part of the request's trace. */
  run(work: () => void): void;
  end(name: string, attributes: TraceAttributes, isFailure: boolean): void;
}

/** The interface of the loaded SDK. */
export interface Tracing {
  startRequest(headers: IncomingHttpHeaders): RequestSpan;
  /** Runs work in a span of its own; it is the root of a new trace when no span is active. */
  span<T>(name: string, attributes: TraceAttributes, work: () => Promise<T>): Promise<T>;
  /** Runs work that began at `from` in a span of another trace; null records nothing. */
  spanIn<T>(
    traceParent: string | null,
    about: { name: string; from: number; attributes: TraceAttributes },
    work: () => Promise<T>,
  ): Promise<T>;
  /** Records a finished span inside the active one. Times are those of `performance.now`. */
  record(name: string, from: number, to: number): void;
  /** The W3C `traceparent` of the active span, or of a new trace. */
  parent(): string;
  /** Sends the remaining spans. */
  stop(): Promise<void>;
}

export interface OpenTelemetryOptions {
  /** Base address of the receiver; `/v1/traces` is added. */
  endpoint: string;
  /** Share of the traces begun here that are recorded. */
  ratio: number;
  process: string;
}

/** Registers the SDK for this process. Call it once. */
export function openTelemetry({ endpoint, ratio, process }: OpenTelemetryOptions): Tracing {
  const url = `${endpoint.replace(/\/$/, '')}/v1/traces`;
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': `enrichment-pipeline-${process}` }),
    sampler: new ParentBasedSampler({
      root: rootSampler(ratio),
      // A caller that sends a trace cannot exceed the ratio; jobs follow the decision of their request.
      remoteParentSampled: new TraceIdRatioBasedSampler(ratio),
    }),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter({ url }))],
  });
  provider.register();
  const tracer = trace.getTracer('enrichment-pipeline');
  const ids = new RandomIdGenerator();
  const unrecordedContext = () =>
    trace.setSpanContext(ROOT_CONTEXT, {
      traceId: ids.generateTraceId(),
      spanId: ids.generateSpanId(),
      traceFlags: TraceFlags.NONE,
    });
  return {
    startRequest: (headers) => startRequest(tracer, headers),
    async span(name, attributes, work) {
      // A root span is a job: see `rootSampler`.
      const kind = trace.getActiveSpan() === undefined ? SpanKind.CONSUMER : SpanKind.INTERNAL;
      return runIn(context.active(), tracer.startSpan(name, { kind, attributes }), work);
    },
    async spanIn(traceParent, { name, from, attributes }, work) {
      const parent =
        traceParent === null
          ? unrecordedContext()
          : propagation.extract(ROOT_CONTEXT, { traceparent: traceParent });
      const options = { kind: SpanKind.CONSUMER, startTime: epochMs(from), attributes };
      return runIn(parent, tracer.startSpan(name, options, parent), work);
    },
    record(name, from, to) {
      if (trace.getActiveSpan()?.isRecording() !== true) return;
      tracer.startSpan(name, { startTime: epochMs(from) }).end(epochMs(to));
    },
    parent() {
      const active = trace.getActiveSpan()?.spanContext();
      if (active !== undefined && isSpanContextValid(active))
        return traceParentOf(context.active());
      return `00-${ids.generateTraceId()}-${ids.generateSpanId()}-01`;
    },
    async stop() {
      await provider.shutdown();
      for (const global of [trace, context, propagation]) global.disable();
    },
  };
}

function startRequest(tracer: Tracer, headers: IncomingHttpHeaders): RequestSpan {
  const parent = propagation.extract(context.active(), headers);
  const span = tracer.startSpan('request', { kind: SpanKind.SERVER }, parent);
  const inside = trace.setSpan(parent, span);
  return {
    traceId: span.spanContext().traceId,
    run: (work) => context.with(inside, work),
    end(name, attributes, isFailure) {
      span.updateName(name).setAttributes(attributes);
      if (isFailure) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

/** Runs work in a span and ends it, with the error if the work throws. */
async function runIn<T>(parent: Context, span: Span, work: () => Promise<T>): Promise<T> {
  try {
    return await context.with(trace.setSpan(parent, span), work);
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR, message: nameOf(error) });
    throw error;
  } finally {
    span.end();
  }
}

function traceParentOf(active: Context): string {
  const carrier: Record<string, string> = {};
  propagation.inject(active, carrier);
  return carrier.traceparent ?? '';
}

/**
 * Lets only requests and jobs begin a trace. BullMQ's own work, such as looking for the next job, is traced as a
 * part of a job or not at all.
 */
function rootSampler(ratio: number): Sampler {
  const share = new TraceIdRatioBasedSampler(ratio);
  return {
    shouldSample(parent, traceId, _name, kind) {
      if (kind !== SpanKind.SERVER && kind !== SpanKind.CONSUMER) {
        return { decision: SamplingDecision.NOT_RECORD };
      }
      return share.shouldSample(parent, traceId);
    },
    toString: () => `requests and jobs, ${share}`,
  };
}

/** Returns the code or name alone: a message may contain what was sent. */
function nameOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  return String(code ?? name ?? 'error');
}

function epochMs(time: number): number {
  return performance.timeOrigin + time;
}
