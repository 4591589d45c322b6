/** The typed HTTP client. Knows the API alone: nothing of the server is imported. */
import { randomUUID } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';

/** A batch as the API answers it; only what callers of this client use is typed. */
export interface ClientBatch {
  id: string;
  name: string;
  state: string;
  reason: string | null;
  error: { detail?: string; code?: string } | null;
  operation: string;
  mapping: Record<string, { column: number; header: string | null }[]>;
  rows: Record<string, number | null> & { total: number | null; processed: number };
  credits: { charged: number; reserved: number; max: number | null };
  quote: { state: string; credits?: number; affordable?: boolean } | null;
  rows_per_second: number | null;
  eta_seconds: number | null;
}

/** The part of a batch's report that says what could not be used. */
export interface ClientReport {
  unusable: Record<string, { rows: number; lines: number[] }>;
}

/** A problem document as an exception. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly status: number;
  readonly code: string;

  constructor(status: number, problem: { code?: string; detail?: string; title?: string }) {
    super(problem.detail ?? problem.title ?? `The service answered ${status}.`);
    this.status = status;
    this.code = problem.code ?? 'unknown';
  }
}

export interface Client {
  /** Uploads a file. Options are the form fields of `POST /v1/batches`. */
  createBatch(file: string, options: Record<string, string>): Promise<ClientBatch>;
  getBatch(id: string): Promise<ClientBatch>;
  /** `start`, `pause`, `resume`, `cancel` or `quote`. */
  controlBatch(id: string, action: string): Promise<ClientBatch>;
  /** Makes a new batch of the rows with these outcomes. */
  rerunBatch(id: string, outcomes: string[]): Promise<ClientBatch>;
  getReport(id: string): Promise<ClientReport>;
  /** The result as it is now, and whether it is complete; `form` is the query of the call. */
  getResults(
    id: string,
    form?: Record<string, string>,
  ): Promise<{ complete: boolean; stream: Readable }>;
  getMe(): Promise<{ credits: { remaining: number } }>;
}

/** A client of the service at `baseUrl`. Its calls throw `ProblemError` for every refusal. */
export function createClient(baseUrl: string, apiKey: string): Client {
  async function call(method: string, target: string, body?: FormData | object): Promise<Response> {
    const isForm = body instanceof FormData;
    const response = await fetch(new URL(target, baseUrl), {
      method,
      headers: {
        Accept: 'application/json',
        Authorization: `Bearer ${apiKey}`,
        ...(method === 'POST' ? { 'Idempotency-Key': randomUUID() } : {}),
        ...(body === undefined || isForm ? {} : { 'Content-Type': 'application/json' }),
      },
      body: isForm ? body : body === undefined ? null : JSON.stringify(body),
    });
    if (response.ok) return response;
    const problem = await response.json().catch(() => ({}));
    throw new ProblemError(response.status, problem as { detail?: string });
  }
  const json = async <T>(response: Promise<Response>) => (await (await response).json()) as T;
  return {
    async createBatch(file, options) {
      const form = new FormData();
      for (const [name, value] of Object.entries(options)) form.set(name, value);
      form.set('file', await openAsBlob(file), path.basename(file));
      return json<ClientBatch>(call('POST', '/v1/batches', form));
    },
    controlBatch: (id, action) => json(call('POST', `/v1/batches/${id}/${action}`)),
    rerunBatch: (id, outcomes) => json(call('POST', `/v1/batches/${id}/rerun`, { outcomes })),
    getReport: (id) => json(call('GET', `/v1/batches/${id}/report`)),
    getBatch: (id) => json<ClientBatch>(call('GET', `/v1/batches/${id}`)),
    async getResults(id, form = {}) {
      const query = new URLSearchParams(form);
      const response = await call('GET', `/v1/batches/${id}/results?${query}`);
      return {
        complete: response.headers.get('X-Result-Complete') === 'true',
        stream:
          response.body === null ? Readable.from([]) : Readable.fromWeb(response.body as never),
      };
    },
    getMe: () => json(call('GET', '/v1/me')),
  };
}
