/** The typed HTTP client. Knows only the API: imports nothing of the server. */
import { randomUUID } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';

/** Fields common to lists and exports; only those used by callers of this client are typed. */
export interface ClientProgress {
  id: string;
  name: string;
  state: string;
  reason: string | null;
  error: { detail?: string; code?: string } | null;
  rows: Record<string, number | null> & { total: number | null; processed: number };
  credits: { charged: number; reserved: number; max: number | null };
  rows_per_second: number | null;
  eta_seconds: number | null;
}

/** A batch as returned by the API. */
export interface ClientBatch extends ClientProgress {
  operation: string;
  mapping: Record<string, { column: number; header: string | null }[]>;
  quote: {
    state: string;
    credits?: number;
    credits_is?: 'exact' | 'at_most';
    affordable?: boolean;
  } | null;
}

/** A number of people: exact, approximate, or an upper bound that may mean none. */
export interface ClientTotal {
  total: number;
  total_is: 'exact' | 'about' | 'below';
}

/** An export as returned by the API. */
export interface ClientExport extends ClientProgress {
  total_is: ClientTotal['total_is'] | null;
  filter: string;
  format: string;
  estimated_credits: number | null;
  created_at: string;
}

/** A schedule as returned by the API. */
export interface ClientSchedule {
  id: string;
  name: string;
  cron: string;
  time_zone: string;
  filter: string;
  mode: string;
  enabled: boolean;
  next_run_at: string | null;
}

/** The outcome of a schedule's slot. */
export interface ClientRun {
  slot: string;
  state: string;
  reason: string | null;
  export_id: string | null;
  rows: number;
  credits: number;
}

/** A webhook as returned by the API. */
export interface ClientWebhook {
  id: string;
  url: string;
  events: string[];
  enabled: boolean;
  disabled_reason: string | null;
  failing_since: string | null;
}

/** The one response that contains the secret. */
export type ClientWebhookWithSecret = ClientWebhook & { secret: string };

/** An event addressed to a webhook. */
export interface ClientDelivery {
  id: string;
  event_id: string;
  type: string;
  state: string;
  attempts: number;
  next_attempt_at: string | null;
  response_status: number | null;
  error: string | null;
  duration_ms: number | null;
  created_at: string;
}

interface ClientList<Item> {
  data: Item[];
  next_cursor: string | null;
}

interface ClientFile {
  complete: boolean;
  stream: Readable;
}

/** The part of a batch's report about unusable rows. */
export interface ClientReport {
  unusable: Record<string, { rows: number; lines: number[] }>;
}

/** A page of a person search. */
export interface ClientPage {
  people: Record<string, unknown>[];
  next: string | null;
  creditsCharged: number;
}

/** The preview of a person search. */
export interface ClientPreview extends ClientTotal {
  estimated_credits: number;
  fields: Record<string, number>;
}

/** A problem document as an exception. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly status: number;
  readonly code: string;

  constructor(status: number, problem: { code?: string; detail?: string; title?: string }) {
    super(problem.detail ?? problem.title ?? `The service responded ${status}.`);
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
  /** Creates a new batch from the rows with these outcomes. */
  rerunBatch(id: string, outcomes: string[]): Promise<ClientBatch>;
  getReport(id: string): Promise<ClientReport>;
  /** The current result, and whether it is complete; `form` is the query of the call. */
  /** A page of a search, by its path and query; `next` is the path of the next page, null after the last. */
  searchPage(path: string): Promise<ClientPage>;
  previewSearch(query: string): Promise<ClientPreview>;
  getResults(id: string, form?: Record<string, string>): Promise<ClientFile>;
  /** `body` as of `POST /v1/exports`. */
  createExport(body: object): Promise<ClientExport>;
  getExport(id: string): Promise<ClientExport>;
  listExports(): Promise<ClientList<ClientExport>>;
  /** `start`, `pause`, `resume` or `cancel`. */
  controlExport(id: string, action: string): Promise<ClientExport>;
  getExportResults(id: string, form?: Record<string, string>): Promise<ClientFile>;
  /** `body` as of `POST /v1/schedules`. */
  createSchedule(body: object): Promise<ClientSchedule>;
  getSchedule(id: string): Promise<ClientSchedule>;
  listSchedules(): Promise<ClientList<ClientSchedule>>;
  changeSchedule(id: string, body: object): Promise<ClientSchedule>;
  deleteSchedule(id: string): Promise<void>;
  listRuns(id: string): Promise<ClientList<ClientRun>>;
  /** `body` as of `POST /v1/webhooks`. */
  createWebhook(body: object): Promise<ClientWebhookWithSecret>;
  listWebhooks(): Promise<ClientList<ClientWebhook>>;
  changeWebhook(id: string, body: object): Promise<ClientWebhook>;
  rotateWebhook(id: string, body: object): Promise<ClientWebhookWithSecret>;
  deleteWebhook(id: string): Promise<void>;
  testWebhook(id: string): Promise<ClientDelivery>;
  /** `state` is `pending`, `delivered` or `failed`; all states when absent. */
  listDeliveries(id: string, state?: string): Promise<ClientList<ClientDelivery>>;
  replayDelivery(id: string, deliveryId: string): Promise<ClientDelivery>;
  getMe(): Promise<{ credits: { remaining: number } }>;
}

/** A client of the service at `baseUrl`. Its calls throw `ProblemError` for every error response. */
export function createClient(baseUrl: string, apiKey: string): Client {
  async function call(method: string, target: string, body?: FormData | object): Promise<Response> {
    const isForm = body instanceof FormData;
    const response = await fetch(new URL(target, baseUrl), {
      method,
      headers: {
        Accept: 'application/json',
        Authorization: `Bearer ${apiKey}`,
        ...(method === 'POST' || isPriced(target) ? { 'Idempotency-Key': randomUUID() } : {}),
        ...(body === undefined || isForm ? {} : { 'Content-Type': 'application/json' }),
      },
      body: isForm ? body : body === undefined ? null : JSON.stringify(body),
    });
    if (response.ok) return response;
    const problem = await response.json().catch(() => ({}));
    throw new ProblemError(response.status, problem as { detail?: string });
  }
  async function file(target: string, form: Record<string, string>): Promise<ClientFile> {
    const response = await call('GET', `${target}?${new URLSearchParams(form)}`);
    return {
      complete: response.headers.get('X-Result-Complete') === 'true',
      stream: response.body === null ? Readable.from([]) : Readable.fromWeb(response.body as never),
    };
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
    getResults: (id, form = {}) => file(`/v1/batches/${id}/results`, form),
    createExport: (body) => json(call('POST', '/v1/exports', body)),
    getExport: (id) => json(call('GET', `/v1/exports/${id}`)),
    listExports: () => json(call('GET', '/v1/exports')),
    controlExport: (id, action) => json(call('POST', `/v1/exports/${id}/${action}`)),
    getExportResults: (id, form = {}) => file(`/v1/exports/${id}/results`, form),
    createSchedule: (body) => json(call('POST', '/v1/schedules', body)),
    getSchedule: (id) => json(call('GET', `/v1/schedules/${id}`)),
    listSchedules: () => json(call('GET', '/v1/schedules')),
    changeSchedule: (id, body) => json(call('PATCH', `/v1/schedules/${id}`, body)),
    async deleteSchedule(id) {
      await call('DELETE', `/v1/schedules/${id}`);
    },
    async searchPage(path) {
      const response = await call('GET', path);
      const link = /^<(.*)>; rel="next"$/.exec(response.headers.get('Link') ?? '');
      return {
        people: (await response.json()) as Record<string, unknown>[],
        next: link?.[1] ?? null,
        creditsCharged: Number(response.headers.get('X-Credits-Charged')),
      };
    },
    previewSearch: (query) => json(call('GET', `/personsearch/preview?${query}`)),
    listRuns: (id) => json(call('GET', `/v1/schedules/${id}/runs`)),
    createWebhook: (body) => json(call('POST', '/v1/webhooks', body)),
    listWebhooks: () => json(call('GET', '/v1/webhooks')),
    changeWebhook: (id, body) => json(call('PATCH', `/v1/webhooks/${id}`, body)),
    rotateWebhook: (id, body) => json(call('POST', `/v1/webhooks/${id}/rotate`, body)),
    async deleteWebhook(id) {
      await call('DELETE', `/v1/webhooks/${id}`);
    },
    testWebhook: (id) => json(call('POST', `/v1/webhooks/${id}/test`)),
    listDeliveries: (id, state) => {
      const query = state === undefined ? '' : `?${new URLSearchParams({ state })}`;
      return json(call('GET', `/v1/webhooks/${id}/deliveries${query}`));
    },
    replayDelivery: (id, deliveryId) =>
      json(call('POST', `/v1/webhooks/${id}/deliveries/${deliveryId}/replay`)),
    getMe: () => json(call('GET', '/v1/me')),
  };
}

/** GET calls that cost credits. */
function isPriced(target: string): boolean {
  return /^\/personsearch\/\?/.test(target);
}
