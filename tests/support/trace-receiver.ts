/** A receiver of OTLP over HTTP in JSON, which keeps the received spans. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface ReceivedSpan {
  name: string;
  traceId: string;
  spanId: string;
  /** Absent, or empty, for the first span of a trace. */
  parentSpanId?: string;
  /** 2 is a server, 5 a job. */
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: Record<string, unknown> }[];
}

interface Sent {
  resourceSpans: { scopeSpans: { spans: ReceivedSpan[] }[] }[];
}

export interface TraceReceiver {
  endpoint: string;
  spans: ReceivedSpan[];
  /** Everything as received. */
  sent(): string;
  close(): void;
}

export async function startTraceReceiver(): Promise<TraceReceiver> {
  const bodies: string[] = [];
  const spans: ReceivedSpan[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    if (request.url !== '/v1/traces') {
      response.writeHead(404).end();
      return;
    }
    bodies.push(body);
    for (const { scopeSpans } of (JSON.parse(body) as Sent).resourceSpans) {
      for (const scope of scopeSpans) spans.push(...scope.spans);
    }
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    sent: () => bodies.join('\n'),
    close: () => server.close().closeAllConnections(),
  };
}

/** The text or number of an attribute. */
export function attributeOf({ attributes }: ReceivedSpan, key: string): unknown {
  const value = attributes.find((one) => one.key === key)?.value;
  return value === undefined ? undefined : Object.values(value)[0];
}
