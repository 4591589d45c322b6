/**
 * Calls the API as a patient client, on any of its processes. Whatever happens to the service, each response
 * must be one documented in docs/openapi.json, and 503 must have a Retry-After.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { packageRoot } from '../../src/core/lib/package-root.ts';
import type { History } from './history.ts';
import type { Random } from './random.ts';

const CALL_MS_MAX = 30_000;
const AGAIN_MS = 300;
/** Longer than a round's faults and their repair can take. */
const ANSWER_MS_MAX = 240_000;

export interface Call {
  key: string;
  /** As in docs/openapi.json: `get /v1/batches/{id}`. */
  route: string;
  id?: string;
  query?: Record<string, string>;
  idempotencyKey?: string;
  /** A form, a CSV, or an object to send as JSON. */
  body?: () => FormData | string | object;
}

export interface Answer {
  status: number;
  headers: Headers;
  bytes: Buffer;
  /** Undefined when the response is not JSON. */
  json: Record<string, unknown> | undefined;
}

export class ApiCaller {
  readonly #urls: readonly string[];
  readonly #history: History;
  readonly #random: Random;
  readonly #documented = readDocumented();
  /** Responses by status; calls without a response count as 0. */
  readonly counts: Record<number, number> = {};

  constructor(urls: readonly string[], history: History, random: Random) {
    this.#urls = urls;
    this.#history = history;
    this.#random = random;
  }

  /** One attempt; undefined without a complete response. */
  async try(call: Call): Promise<Answer | undefined> {
    const answer = await this.#send(call).catch((error: unknown) => {
      this.#history.note('no answer', { route: call.route, error: describe(error) });
      return undefined;
    });
    const status = answer?.status ?? 0;
    this.counts[status] = (this.counts[status] ?? 0) + 1;
    if (answer !== undefined) this.#check(call, answer);
    return answer;
  }

  /** Retries until there is a final response; `onTry` is called for every attempt. */
  async until(
    call: Call,
    onTry: (answer: Answer | undefined) => void = () => {},
  ): Promise<Answer | undefined> {
    const deadline = Date.now() + ANSWER_MS_MAX;
    while (Date.now() < deadline) {
      const answer = await this.try(call);
      onTry(answer);
      if (answer !== undefined && !isPassing(answer)) return answer;
      await delay(AGAIN_MS);
    }
    this.#history.violate('every call is answered in the end', { route: call.route });
    return undefined;
  }

  async #send(call: Call): Promise<Answer> {
    const [method = '', template = ''] = call.route.split(' ');
    const url = new URL(template.replace('{id}', call.id ?? ''), this.#random.pick(this.#urls));
    for (const [name, value] of Object.entries(call.query ?? {})) url.searchParams.set(name, value);
    const body = call.body?.();
    const isForm = body instanceof FormData;
    const isCsv = typeof body === 'string';
    const response = await fetch(url, {
      method: method.toUpperCase(),
      headers: {
        Authorization: `Bearer ${call.key}`,
        ...(call.idempotencyKey === undefined ? {} : { 'Idempotency-Key': call.idempotencyKey }),
        ...(body === undefined || isForm
          ? {}
          : { 'Content-Type': isCsv ? 'text/csv' : 'application/json' }),
      },
      body: body === undefined ? null : isForm || isCsv ? body : JSON.stringify(body),
      signal: AbortSignal.timeout(CALL_MS_MAX),
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const isJson = response.headers.get('Content-Type')?.includes('json') ?? false;
    const json = isJson ? (JSON.parse(bytes.toString()) as Answer['json']) : undefined;
    return { status: response.status, headers: response.headers, bytes, json };
  }

  #check({ route }: Call, { status, headers, bytes }: Answer): void {
    if (!this.#documented.get(route)?.has(status)) {
      const body = bytes.toString('utf8').slice(0, 500);
      this.#history.violate('every answer has a documented status', { route, status, body });
    }
    if (status === 503 && headers.get('Retry-After') === null) {
      this.#history.violate('503 says when to come back', { route });
    }
  }
}

/** A response that only asks for a retry. */
function isPassing({ status, json }: Answer): boolean {
  return status === 429 || status === 503 || json?.code === 'idempotency_in_progress';
}

function readDocumented(): Map<string, Set<number>> {
  const text = readFileSync(path.join(packageRoot, 'docs', 'openapi.json'), 'utf8');
  const { paths } = JSON.parse(text) as {
    paths: Record<string, Record<string, { responses: Record<string, unknown> }>>;
  };
  const routes = Object.entries(paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, { responses }]): [string, Set<number>] => [
      `${method} ${template}`,
      new Set(Object.keys(responses).map(Number)),
    ]),
  );
  return new Map(routes);
}

function describe(error: unknown): string {
  const { message, cause } = error as { message?: string; cause?: { code?: string } };
  return `${message ?? error} ${cause?.code ?? ''}`.trim();
}
