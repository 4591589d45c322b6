/**
 * The reconciliation service (Reconciliation Service API 0.2), by which OpenRefine and others match a column. Its clients
 * send no header, so the key is in the address: one that has the scope `reconcile` alone.
 */
import { z } from 'zod';
import { paysOnce } from '../../core/credits/owned.ts';
import type { Sql } from '../../core/db/client.ts';
import { lookUpInTurn } from '../../core/enrich/look-up-turns.ts';
import { findRequestsOf } from '../../core/keys/keys.sql.ts';
import { invalidParameter } from '../../core/lib/errors.ts';
import { countFurtherRequests } from '../../core/limits/limits.ts';
import { lookUpCompaniesNamed, lookUpCompanyIds } from '../../core/lookups/look-up-companies.ts';
import { assertNotEnded } from '../../core/sessions/still-valid.ts';
import { inReadingTurn } from '../../jobs/list/reading-turns.ts';
import { clientGone } from '../http/client-gone.ts';
import { decimal } from '../http/decimal.ts';
import { defineRoute, type Route, type RouteInput, sent } from '../http/define-route.ts';
import { isSecure } from '../http/is-secure.ts';
import { parseParameters } from '../http/parse-parameters.ts';
import { parseJson, readBody } from '../http/read-json.ts';
import { readerOf } from '../http/reader-of.ts';
import { assertValidIfLate } from '../http/while-valid.ts';
import { readLookup } from '../read-lookup.ts';
import { type EntityType, entityId, entityTypes, parseEntityId, viewType } from './entity.ts';
import { type Extension, extendRows, parseExtension } from './extend.ts';
import { renderManifest } from './manifest.ts';
import { fieldProperties, findProperties } from './properties.ts';
import { answerQueries, parseQueries } from './queries.ts';

const BODY_BYTES_MAX = 256 * 1024;
/** Characters of a body that is parsed at once: a millisecond or two. A longer one is parsed in the account's turn. */
const LENGTH_AT_ONCE_MAX = 16 * 1024;
const TEXT_MAX = 300;
const SUGGESTIONS_MAX = 10;

const params = z.strictObject({ key: z.string() });
const asked = z.strictObject({ queries: z.string().optional(), extend: z.string().optional() });
const json = {
  description: 'As the Reconciliation Service API 0.2 defines it.',
  schema: z.unknown(),
};

/** Members of every route. */
const common = {
  scope: 'reconcile',
  metered: true,
  keyInPath: true,
  params,
  responses: { 200: json },
} as const;
const ROOT = '/v1/reconcile/:key';

/** All routes of the service. They are not in the OpenAPI document: the service has a specification of its own. */
export const reconcileRoutes: readonly Route[] = [
  defineRoute({
    ...common,
    method: 'get',
    path: ROOT,
    summary: 'The manifest, queries or an extension',
    query: asked,
    async handler(input) {
      const { queries, extend } = input.query;
      const isManifest = queries === undefined && extend === undefined;
      const body = isManifest ? await manifestFor(input) : await answer(input, parse(input.query));
      return { status: 200, body };
    },
  }),
  defineRoute({
    ...common,
    method: 'post',
    path: ROOT,
    summary: 'Queries or an extension, as a form',
    bodies: { 'application/x-www-form-urlencoded': asked },
    async receive({ key, request, response }) {
      const text = await readBody(request, BODY_BYTES_MAX);
      const read = () =>
        parse(parseParameters(asked, Object.fromEntries(new URLSearchParams(text))));
      const reader = readerOf({ key, response });
      const isLong = text.length > LENGTH_AT_ONCE_MAX;
      return { body: isLong ? await inReadingTurn(reader, read) : read() };
    },
    handler: async (input) => ({ status: 200, body: await answer(input, input.body) }),
  }),
  defineRoute({
    ...common,
    method: 'get',
    path: `${ROOT}/suggest/entity`,
    summary: 'Companies by the beginning of their name, or an id',
    query: suggestQuery(),
    async handler(input) {
      return { status: 200, body: { result: await suggestEntities(input, input.query.prefix) } };
    },
  }),
  defineRoute({
    ...common,
    method: 'get',
    path: `${ROOT}/suggest/property`,
    summary: 'Properties of queries, and fields that extend a row',
    query: suggestQuery(),
    async handler(input) {
      const { prefix, type } = input.query;
      // OpenRefine asks for the columns to add without a type, and for properties of queries with the first type of the manifest.
      const result = findProperties(await typesOf(input), prefix, type === undefined);
      return { status: 200, body: { result } };
    },
  }),
  defineRoute({
    ...common,
    method: 'get',
    path: `${ROOT}/suggest/type`,
    summary: 'The types of records',
    query: suggestQuery(),
    async handler(input) {
      const wanted = input.query.prefix.toLowerCase();
      const types = (await typesOf(input)).map(viewType);
      const result = types.filter(({ name }) => name.toLowerCase().startsWith(wanted));
      return { status: 200, body: { result } };
    },
  }),
  defineRoute({
    ...common,
    method: 'get',
    path: `${ROOT}/properties`,
    summary: 'Fields that extend a row',
    query: z.strictObject({
      type: z.string().optional(),
      limit: decimal(z.number().int().min(1)).optional(),
    }),
    async handler({ query }) {
      const { type = 'company', limit } = query;
      const isType = Object.hasOwn(entityTypes, type);
      const properties = isType ? fieldProperties(type as EntityType) : [];
      const told = limit === undefined ? {} : { limit };
      return { status: 200, body: { type, ...told, properties: properties.slice(0, limit) } };
    },
  }),
  defineRoute({
    ...common,
    method: 'get',
    path: `${ROOT}/flyout`,
    summary: 'A suggestion in some words of HTML',
    query: z.strictObject({ id: z.string().max(TEXT_MAX) }),
    async handler(input) {
      const { id } = input.query;
      const [name, about] = await describeSuggestion(input, id);
      const html = `<b>${escapeHtml(name)}</b><p>${escapeHtml(about)}</p>`;
      return { status: 200, body: { id, html } };
    },
  }),
  defineRoute({
    ...common,
    method: 'get',
    path: `${ROOT}/preview`,
    summary: 'A record as a small page',
    query: z.strictObject({ id: z.string() }),
    responses: { 200: { description: 'A page.', types: ['text/html'] } },
    async handler(input) {
      const { context, response } = input;
      const page = await renderPreview(input, input.query.id);
      await assertValidIfLate(context, input);
      // It is shown in a frame of the client's page, and loads nothing.
      response.setHeader(
        'Content-Security-Policy',
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors *",
      );
      response.type('text/html').send(page);
      return sent;
    },
  }),
];

/** Other parameters are ignored: OpenRefine also sends those of the service that it was first written for. */
function suggestQuery() {
  return z.object({
    prefix: z.string().max(TEXT_MAX).default(''),
    type: z.string().max(TEXT_MAX).optional(),
  });
}

/** The types that the account may match. One that pays for a person each time would pay for the match and its fields. */
async function typesOf({ context, key }: RouteInput): Promise<EntityType[]> {
  const live = key.mode === 'live';
  const { accountId } = key;
  const delivery = { accountId, live, operation: entityTypes.person.operation };
  const withPeople = !live || (await paysOnce(context.sql, delivery));
  return withPeople ? ['company', 'person'] : ['company'];
}

async function manifestFor(input: RouteInput) {
  const { request } = input;
  const { key } = input.params as z.output<typeof params>;
  // The address has the key: behind TLS it must not be sent in plain text.
  const protocol = isSecure(request) ? 'https' : 'http';
  const address = `${protocol}://${request.get('host')}${ROOT.replace(':key', key)}`;
  return renderManifest(address, await typesOf(input));
}

type Parsed = { queries: ReturnType<typeof parseQueries> } | { extension: Extension };

/** Parses queries or an extension. Throws `AppError` 400. */
function parse({ queries, extend }: z.output<typeof asked>): Parsed {
  if (queries !== undefined) return { queries: parseQueries(parseJson(queries)) };
  if (extend === undefined) throw invalidParameter('queries', 'is missing. Send queries or extend');
  return { extension: parseExtension(parseJson(extend)) };
}

/** Responds to queries or an extension, which count as many requests as they have rows. */
async function answer(input: RouteInput, parsed: Parsed): Promise<unknown> {
  if ('queries' in parsed) {
    const { queries } = parsed;
    await countRows(input, Object.keys(queries).length);
    return inTurn(input, async () => answerQueries(input, queries, await typesOf(input)));
  }
  const { extension } = parsed;
  await countRows(input, extension.ids.length);
  return inTurn(input, () => extendRows(input, extension));
}

/**
 * Runs the look-ups of a call in the account's turn. Throws as a share does, and `AppError` 401 or 403 when the key has ended.
 */
function inTurn<T>({ context, key, credentials, response }: RouteInput, lookUp: () => Promise<T>) {
  return lookUpInTurn(key.accountId, clientGone(response), async () => {
    // The key was read before the body came and the turn began, and queries about companies charge nothing.
    await assertNotEnded(context.sql, credentials);
    return lookUp();
  });
}

/** Counts the rows of a request that was admitted as one. */
async function countRows({ context, key }: RouteInput, rows: number): Promise<void> {
  if (rows < 2) return;
  const requestsOf = await findRequestsOf(context.sql, key.id);
  await countFurtherRequests(context, { ...key, requestsOf }, rows - 1);
}

async function suggestEntities(input: RouteInput, prefix: string) {
  const [, id] = /^company-(\d{1,15})$/.exec(prefix) ?? [];
  const found = await readLookup(input, (graph) =>
    id === undefined
      ? lookUpCompaniesNamed(graph, { text: prefix, limit: SUGGESTIONS_MAX })
      : lookUpCompanyIds(graph, [Number(id)]),
  );
  return found.map((company) => ({
    id: entityId({ type: 'company', id: company.id }),
    name: company.name,
    notable: [viewType('company')],
  }));
}

async function renderPreview(input: RouteInput, id: string): Promise<string> {
  const [name, about] = await describeEntity(input, id);
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(name)}</title><style>body{font:14px sans-serif;margin:8px}</style></head><body><b>${escapeHtml(name)}</b><p>${escapeHtml(about)}</p></body></html>`;
}

/** The name of a company, as a lookup tells it; nothing of a person. Throws `AppError` 400 for another text than an id. */
async function describeEntity(
  input: RouteInput,
  text: string,
): Promise<[name: string, about: string]> {
  const { type, id } = parseEntityId('id', text);
  const named = (graph: Sql) => lookUpCompanyIds(graph, [id]);
  const [company] = type === 'company' ? await readLookup(input, named) : [];
  const name = company?.name ?? entityTypes[type].name;
  const about = `${entityTypes[type].name} ${id}. Add columns from reconciled values to read its record.`;
  return [name, about];
}

/** As `describeEntity`, also of a type and a property. */
async function describeSuggestion(
  input: RouteInput,
  id: string,
): Promise<[name: string, about: string]> {
  if (Object.hasOwn(entityTypes, id)) return [viewType(id as EntityType).name, `Type ${id}`];
  const property = findProperties(await typesOf(input), id, true).find((one) => one.id === id);
  if (property === undefined) return describeEntity(input, id);
  return [property.name, property.description ?? `Property ${id}`];
}

const escapes: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => escapes[character] ?? character);
}
