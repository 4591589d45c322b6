/**
 * OpenTelemetry's SDK behind `tracing.ts`. The packages that it takes are named one by one: the SDK's
 * bundle would bring gRPC and every exporter. Loaded when an endpoint is set, by nobody else.
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

/** A request that is being answered. */
export interface RequestSpan {
  traceId: string;
  /** Runs what answers it; what that does is part of the request's trace. */
  run(work: () => void): void;
  end(name: string, attributes: TraceAttributes, isFailure: boolean): void;
}

/** What the loaded SDK does. */
export interface Tracing {
  startRequest(headers: IncomingHttpHeaders): RequestSpan;
  /** Runs work in a span of its own, one that began it all where nothing else did. */
  span<T>(name: string, attributes: TraceAttributes, work: () => Promise<T>): Promise<T>;
  /** Runs work that began at `from` in a span of another trace; in none that is recorded for null. */
  spanIn<T>(
    traceParent: string | null,
    about: { name: string; from: number; attributes: TraceAttributes },
    work: () => Promise<T>,
  ): Promise<T>;
  /** A span of what is over, inside of the active one. Times as `performance.now` gives them. */
  record(name: string, from: number, to: number): void;
  /** The W3C `traceparent` of what is active, or of a new trace. */
  parent(): string;
  /** Sends what is left. */
  stop(): Promise<void>;
}

export interface OpenTelemetryOptions {
  /** Base address of the receiver; `/v1/traces` is added. */
  endpoint: string;
  /** Share of what begins here that is traced. */
  ratio: number;
  process: string;
}

/** Registers the SDK for this process. Call it once. */
export function openTelemetry({ endpoint, ratio, process }: OpenTelemetryOptions): Tracing {
  const url = `${endpoint.replace(/\/$/, '')}/v1/traces`;
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': `enrichment-pipeline-${process}` }),
    sampler: new ParentBasedSampler({
      root: beginnings(ratio),
      // A caller who sends a trace cannot ask for more than the share; jobs come out as their request did.
      remoteParentSampled: new TraceIdRatioBasedSampler(ratio),
    }),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter({ url }))],
  });
  provider.register();
  const tracer = trace.getTracer('enrichment-pipeline');
  const ids = new RandomIdGenerator();
  const runIn = async <T>(parent: Context, span: Span, work: () => Promise<T>) => {
    try {
      return await context.with(trace.setSpan(parent, span), work);
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: nameOf(error) });
      throw error;
    } finally {
      span.end();
    }
  };
  const nowhere = () =>
    trace.setSpanContext(ROOT_CONTEXT, {
      traceId: ids.generateTraceId(),
      spanId: ids.generateSpanId(),
      traceFlags: TraceFlags.NONE,
    });
  return {
    startRequest(headers) {
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
    },
    async span(name, attributes, work) {
      // A beginning is a job's: see `beginnings`.
      const kind = trace.getActiveSpan() === undefined ? SpanKind.CONSUMER : SpanKind.INTERNAL;
      return runIn(context.active(), tracer.startSpan(name, { kind, attributes }), work);
    },
    async spanIn(traceParent, { name, from, attributes }, work) {
      const parent =
        traceParent === null
          ? nowhere()
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

function traceParentOf(active: Context): string {
  const carrier: Record<string, string> = {};
  propagation.inject(active, carrier);
  return carrier.traceparent ?? '';
}

/**
 * What may begin a trace: requests and jobs. All else that BullMQ does by itself, such as looking for the next
 * job, is traced as a part of a job or not at all.
 */
function beginnings(ratio: number): Sampler {
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

/** A message may name what was sent. */
function nameOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  return String(code ?? name ?? 'error');
}

function epochMs(time: number): number {
  return performance.timeOrigin + time;
}
