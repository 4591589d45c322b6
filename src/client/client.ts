/** The typed HTTP client. Knows only the API, by the types generated from its document. */
import { randomUUID } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import type {
  Batch,
  Calls,
  ChosenCompany,
  ChosenPerson,
  Company,
  Export,
  Person,
  Problem,
} from './api-types.ts';

export type { Batch, Calls, Company, Export, Person } from './api-types.ts';

interface ClientFile {
  complete: boolean;
  stream: Readable;
}

/** The part of a batch's report about unusable rows. */
export interface ClientReport {
  unusable: Record<string, { rows: number; lines: number[] }>;
}

/** A page of a person search. */
interface ClientPage {
  people: Record<string, unknown>[];
  next: string | null;
  creditsCharged: number;
  /** Values of the filter that no lookup knows; on the first page. */
  unknownValues: { parameter: string; value: string }[];
}

/** A problem document as an exception. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly status: number;
  readonly code: string;

  constructor(status: number, problem: Partial<Problem> | null) {
    super(problem?.detail ?? problem?.title ?? `The service responded ${status}.`);
    this.status = status;
    this.code = problem?.code ?? 'unknown';
  }
}

type Name = keyof Calls;
type Part<Of extends Name, Key extends string> =
  Calls[Of] extends Record<Key, infer Value> ? Value : undefined;

/** Repeats of a call with the same key get its first response, and are not charged. */
export interface Repeatable {
  /** A new one for each call when absent. */
  idempotencyKey?: string;
}

/** The arguments of a call, other than its name. */
interface Sent extends Repeatable {
  /** Takes the place of `{id}` and `{delivery_id}`. */
  id?: string;
  delivery_id?: string;
  query?: object;
  body?: object;
}

/** The service sent no readable response: it is not running, or not at this address, or the connection was lost. */
export class UnreachableError extends Error {
  constructor(baseUrl: string, cause: unknown) {
    const why = (cause as { cause?: { code?: string } }).cause?.code ?? String(cause);
    super(
      `No response from ${baseUrl} (${why}). Is the service running, and is this its address?`,
      {
        cause,
      },
    );
  }
}

/**
 * Returns the path of a call. An id may come from others: it is one part of the path, and leads to no other call. Throws
 * `ProblemError` 400 for nothing and for dots, which an address takes for the folder itself or the one above.
 */
function pathOf(template: string, ids: Pick<Sent, 'id' | 'delivery_id'>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name) => {
    const id = ids[name as keyof typeof ids] ?? '';
    if (/^\.{0,2}$/.test(id)) {
      throw new ProblemError(400, {
        code: 'invalid_parameter',
        detail: `'${id}' cannot be an id.`,
      });
    }
    return encodeURIComponent(id);
  });
}

/** From version 24 on, Node sends the question mark of an empty query, too. */
function withQuery(path: string, query: URLSearchParams): string {
  return query.size === 0 ? path : `${path}?${query}`;
}

/** The actions on lists and exports alike. */
export type ControlAction = 'start' | 'pause' | 'resume' | 'cancel';

export type Client = ReturnType<typeof createClient>;

/** Returns the error for a redirect: following it would send a list or a query to another address, or lose the body. */
function redirected(baseUrl: string, { status, headers }: Response): ProblemError {
  const target = headers.get('Location') ?? 'another address';
  return new ProblemError(status, {
    code: 'redirected',
    detail: `${baseUrl} redirects to ${target}. The client does not follow redirects: use the address of the service itself.`,
  });
}

/** How a client sends: any request, a call by its name in the document, or the download of a file. */
function openTransport(baseUrl: string, apiKey: string) {
  async function send(
    method: string,
    target: string,
    body?: Blob | object,
    idempotencyKey: string = randomUUID(),
  ): Promise<Response> {
    const isFile = body instanceof Blob;
    const address = new URL(target, baseUrl);
    // The address of a page may come from others: the key goes to the service alone.
    if (address.origin !== new URL(baseUrl).origin) {
      const detail = `${target} is no path of the service at ${baseUrl}.`;
      throw new ProblemError(400, { code: 'invalid_parameter', detail });
    }
    const response = await fetch(address, {
      method,
      headers: {
        Accept: 'application/json',
        Authorization: `Bearer ${apiKey}`,
        ...(method === 'POST' || isPriced(target) ? { 'Idempotency-Key': idempotencyKey } : {}),
        ...(body === undefined || isFile ? {} : { 'Content-Type': 'application/json' }),
      },
      body: isFile ? body : body === undefined ? null : JSON.stringify(body),
      redirect: 'manual',
    }).catch((error: Error) => {
      // A file that is a folder, or that was changed while it was sent.
      if (error.cause instanceof DOMException) throw error.cause;
      throw new UnreachableError(baseUrl, error);
    });
    if (response.ok) return response;
    if (response.status < 400) throw redirected(baseUrl, response);
    const problem = await response.json().catch(() => ({}));
    // A proxy may answer in JSON that is no document.
    throw new ProblemError(response.status, problem as Partial<Problem> | null);
  }
  /** Returns the JSON of a response; undefined when it has none. */
  async function read(response: Response): Promise<unknown> {
    if (response.status === 204) return undefined;
    return response.json().catch((error: unknown) => {
      throw new UnreachableError(baseUrl, error);
    });
  }
  /** Makes a call by its name in the document, and returns its JSON; undefined when it has none. */
  async function call<Of extends Name>(
    name: Of,
    { body, query = {}, idempotencyKey, ...ids }: Sent = {},
  ): Promise<Part<Of, 'response'>> {
    const [method = '', template = ''] = name.split(' ');
    const place = pathOf(template, ids);
    const search = new URLSearchParams();
    for (const [parameter, value] of Object.entries(query)) {
      if (value !== undefined) search.set(parameter, String(value));
    }
    const target = withQuery(place, search);
    return (await read(await send(method, target, body, idempotencyKey))) as Part<Of, 'response'>;
  }
  async function file(
    template: string,
    id: string,
    form: Record<string, string>,
  ): Promise<ClientFile> {
    const target = withQuery(pathOf(template, { id }), new URLSearchParams(form));
    const response = await send('GET', target);
    return {
      complete: response.headers.get('X-Result-Complete') === 'true',
      stream: response.body === null ? Readable.from([]) : Readable.fromWeb(response.body as never),
    };
  }
  return { send, read, call, file };
}

type Transport = ReturnType<typeof openTransport>;

/**
 * Returns a form with the part `file`, in the encoding of HTML's `multipart/form-data`. Not a `FormData`: from version 24 on,
 * Node waits forever when a file of one cannot be read.
 */
function formOf(fields: Record<string, string>, fileName: string, file: Blob): Blob {
  const boundary = randomUUID();
  const part = (name: string) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"`;
  const texts = Object.entries(fields).map(([name, value]) => `${part(name)}\r\n\r\n${value}\r\n`);
  const quoted = fileName.replace(/["\r\n]/g, encodeURIComponent);
  const head = `${part('file')}; filename="${quoted}"\r\n\r\n`;
  return new Blob([...texts, head, file, `\r\n--${boundary}--\r\n`], {
    type: `multipart/form-data; boundary=${boundary}`,
  });
}

/**
 * A client of the service at `baseUrl`. Its calls throw `ProblemError` for every refusal, and `UnreachableError`
 * without a response.
 */
export function createClient(baseUrl: string, apiKey: string) {
  const transport = openTransport(baseUrl, apiKey);
  return {
    ...singleCalls(transport),
    ...searchCalls(transport),
    ...batchCalls(transport),
    ...exportCalls(transport),
    ...scheduleCalls(transport),
    ...webhookCalls(transport),
  };
}

/** Calls about lists. */
function batchCalls({ send, read, call, file }: Transport) {
  return {
    /** Uploads a file. Options are the form fields of `POST /v1/batches`. */
    async createBatch(
      file: string,
      options: Record<string, string>,
      { idempotencyKey }: Repeatable = {},
    ): Promise<Batch> {
      const form = formOf(options, path.basename(file), await openAsBlob(file));
      return (await read(await send('POST', '/v1/batches', form, idempotencyKey))) as Batch;
    },
    controlBatch: (id: string, action: ControlAction | 'quote') =>
      call(`POST /v1/batches/{id}/${action}`, { id }),
    /** Sets the maximum credits of a batch; null for no limit. */
    capBatch: (id: string, maxCredits: number | null) =>
      call('PATCH /v1/batches/{id}', { id, body: { max_credits: maxCredits } }),
    /** Makes a new batch of the rows with these outcomes; with `hold` it waits for a quote and a start. */
    rerunBatch: (
      id: string,
      body: { outcomes: string[]; hold?: boolean },
      options: Repeatable = {},
    ) => call('POST /v1/batches/{id}/rerun', { id, body, ...options }),
    /** A page of the ambiguous rows of a batch with their candidates, after a cursor. */
    listAmbiguous: (id: string, cursor?: string) =>
      call('GET /v1/batches/{id}/ambiguous', { id, query: { limit: 100, cursor } }),
    /** Decides ambiguous rows by a CSV file with the columns row and id. */
    async decideRows(
      id: string,
      file: string,
      hold: boolean,
      { idempotencyKey }: Repeatable = {},
    ): Promise<Batch> {
      const csv = await openAsBlob(file, { type: 'text/csv' });
      const target = pathOf('/v1/batches/{id}/decisions', { id });
      return (await read(
        await send('POST', `${target}?hold=${hold}`, csv, idempotencyKey),
      )) as Batch;
    },
    getReport: (id: string) =>
      call('GET /v1/batches/{id}/report', { id }) as Promise<unknown> as Promise<ClientReport>,
    listBatches: () => call('GET /v1/batches'),
    getBatch: (id: string) => call('GET /v1/batches/{id}', { id }),
    /** The result as it is now, and whether it is complete; `form` is the query of the call. */
    getResults: (id: string, form: Record<string, string> = {}) =>
      file('/v1/batches/{id}/results', id, form),
  };
}

/** Calls about exports. Bodies are those of the API, which checks them. */
function exportCalls({ call, file }: Transport) {
  return {
    createExport: (body: object, options: Repeatable = {}) =>
      call('POST /v1/exports', { body, ...options }),
    getExport: (id: string) => call('GET /v1/exports/{id}', { id }),
    listExports: () => call('GET /v1/exports'),
    controlExport: (id: string, action: ControlAction): Promise<Export> =>
      call(`POST /v1/exports/{id}/${action}`, { id }),
    getExportResults: (id: string, form: Record<string, string> = {}) =>
      file('/v1/exports/{id}/results', id, form),
  };
}

/** Calls about schedules. Bodies are those of the API, which checks them. */
function scheduleCalls({ call }: Transport) {
  return {
    createSchedule: (body: object) => call('POST /v1/schedules', { body }),
    getSchedule: (id: string) => call('GET /v1/schedules/{id}', { id }),
    listSchedules: () => call('GET /v1/schedules'),
    changeSchedule: (id: string, body: object) => call('PATCH /v1/schedules/{id}', { id, body }),
    deleteSchedule: (id: string) => call('DELETE /v1/schedules/{id}', { id }),
    runSchedule: (id: string, options: Repeatable = {}) =>
      call('POST /v1/schedules/{id}/run', { id, body: {}, ...options }),
    listRuns: (id: string) => call('GET /v1/schedules/{id}/runs', { id }),
  };
}

function searchCalls({ send, read }: Transport) {
  return {
    /** A page of a search, by its path and query; `next` is the path of the next page, null behind the last. */
    async searchPage(path: string, { idempotencyKey }: Repeatable = {}): Promise<ClientPage> {
      const response = await send('GET', path, undefined, idempotencyKey);
      const link = /^<(.*)>; rel="next"$/.exec(response.headers.get('Link') ?? '');
      return {
        people: (await read(response)) as Record<string, unknown>[],
        next: link?.[1] ?? null,
        creditsCharged: Number(response.headers.get('X-Credits-Charged')),
        unknownValues: [...new URLSearchParams(response.headers.get('X-Unknown-Values') ?? '')].map(
          ([parameter, value]) => ({ parameter, value }),
        ),
      };
    },
    /** `query` is a query string. */
    previewSearch: async (query: string) =>
      (await read(await send('GET', `/personsearch/preview?${query}`))) as Part<
        'GET /personsearch/preview',
        'response'
      >,
  };
}

/** Calls about webhooks. Bodies are those of the API, which checks them. */
function webhookCalls({ call }: Transport) {
  return {
    createWebhook: (body: object) => call('POST /v1/webhooks', { body }),
    listWebhooks: () => call('GET /v1/webhooks'),
    changeWebhook: (id: string, body: object) => call('PATCH /v1/webhooks/{id}', { id, body }),
    rotateWebhook: (id: string, body: object) =>
      call('POST /v1/webhooks/{id}/rotate', { id, body }),
    deleteWebhook: (id: string) => call('DELETE /v1/webhooks/{id}', { id }),
    testWebhook: (id: string) => call('POST /v1/webhooks/{id}/test', { id }),
    /** `state` is `pending`, `delivered` or `failed`; all of them without it. */
    listDeliveries: (id: string, state?: string) =>
      call('GET /v1/webhooks/{id}/deliveries', {
        id,
        query: state === undefined ? {} : { state },
      }),
    replayDelivery: (id: string, delivery_id: string) =>
      call('POST /v1/webhooks/{id}/deliveries/{delivery_id}/replay', { id, delivery_id }),
  };
}

/** A response whose records are whole: no member is missing, as `fields` leaves out. */
type Whole<Value> = Value extends ChosenPerson
  ? Extract<Value, Person>
  : Value extends ChosenCompany
    ? Extract<Value, Company>
    : Value extends object
      ? { [Key in keyof Value]: Whole<Value[Key]> }
      : Value;

/** Calls about one record, lookups, and the account. */
function singleCalls({ call }: Transport) {
  const get =
    <Of extends Name>(name: Of) =>
    (query: Part<Of, 'query'>, options: Repeatable = {}) =>
      call(name, { query: query as object, ...options });
  /** As `get`: without `fields` the records are whole. */
  const getRecord =
    <Of extends Name>(name: Of) =>
    <Query extends Part<Of, 'query'>>(query: Query, options: Repeatable = {}) =>
      call(name, { query: query as object, ...options }) as Promise<
        Query extends { fields: string } ? Part<Of, 'response'> : Whole<Part<Of, 'response'>>
      >;
  return {
    enrichPerson: getRecord('GET /v1/people/enrich'),
    enrichPersonWithCompany: getRecord('GET /v1/people/enrich-with-company'),
    getMobile: get('GET /v1/people/mobile'),
    verifyEmail: get('GET /v1/people/email/verify'),
    enrichCompany: getRecord('GET /v1/companies/enrich'),
    getCompanyLogo: get('GET /v1/companies/logo'),
    getCompanyFinancials: get('GET /v1/companies/financials'),
    lookUpJobTitles: get('GET /v1/lookups/job-titles'),
    lookUpLocations: get('GET /v1/lookups/locations'),
    lookUpIndustries: get('GET /v1/lookups/industries'),
    listUsage: get('GET /v1/usage'),
    listLedgerLines: get('GET /v1/usage/lines'),
    listOptOuts: get('GET /v1/opt-outs'),
    getMe: () => call('GET /v1/me'),
  };
}

/** GET calls that cost credits. */
function isPriced(target: string): boolean {
  return /^\/personsearch\/?\?|^\/v1\/(people|companies|personsearch)(\/(?!preview|breakdown)|\?)/.test(
    target,
  );
}
