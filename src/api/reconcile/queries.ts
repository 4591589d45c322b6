/**
 * Reconciliation queries: each is matched like a row of a list with `match=likely`. A company is found for free, like by a
 * lookup. That a person is stored is told to who pays for the match, as by a single call.
 */
import { z } from 'zod';
import { enrichMany, type Outcome } from '../../core/enrich/enrich-many.ts';
import { matchToJson } from '../../core/enrich/match-data.ts';
import { MIN_PROBABILITY_DEFAULT } from '../../core/enrich/match-mode.ts';
import type { RowIdentifier, RowInput } from '../../core/enrich/outcomes.ts';
import { graphOf } from '../../core/graph/graph-of.ts';
import { normaliseCompanyName } from '../../core/identifiers/company-name.ts';
import { countryCode } from '../../core/identifiers/country.ts';
import {
  isAddressForDomain,
  normaliseIdentifier,
  statedText,
} from '../../core/identifiers/identifier.ts';
import { withoutPlaceholder } from '../../core/identifiers/placeholder.ts';
import { invalidParameter } from '../../core/lib/errors.ts';
import { readCompanies } from '../../core/lookups/look-up-companies.ts';
import { operations } from '../../core/operations.ts';
import { FEW } from '../../core/search/free-responses.ts';
import { likelyCells } from '../../mapping/read-likely-cells.ts';
import { numberContext } from '../../mapping/row-countries.ts';
import type { RouteInput } from '../http/define-route.ts';
import { parseParameters } from '../http/parse-parameters.ts';
import { namesIn } from '../likely-query.ts';
import { type EntityType, entityId, entityTypes, viewType } from './entity.ts';
import { enrichAll } from './paid-calls.ts';
import { columnKind } from './properties.ts';

/** Maximum queries of one call. */
const QUERIES_MAX = 50;
/** Maximum properties, and types, of a query. */
const LISTED_MAX = 100;
const TEXT_MAX = 300;
const PERCENT = 100;

/** A query without other members: it takes memory while it waits for the account's turn. */
const query = z.object({
  query: z.union([z.string(), z.number()]).transform(String).default(''),
  type: z.union([z.string(), z.array(z.string()).max(LISTED_MAX)]).optional(),
  limit: z.number().int().min(1).optional(),
  properties: z
    .array(z.object({ pid: z.string(), v: z.unknown().transform(textOf) }))
    .max(LISTED_MAX)
    .default([]),
});
const batch = z.record(z.string(), query);
type Query = z.output<typeof query>;

interface Candidate {
  id: string;
  name: string;
  description?: string;
  type: { id: string; name: string }[];
  /** From 0 to 100. */
  score: number;
  match: boolean;
  features: { id: string; value: number }[];
}

/** Parses a batch of queries. Throws `AppError` 400, also for a name that no object can hold: its query would be dropped. */
export function parseQueries(json: unknown): Record<string, Query> {
  if (typeof json === 'object' && json !== null && Object.hasOwn(json, '__proto__')) {
    throw invalidParameter('queries.__proto__', 'cannot be the name of a query. Rename the query');
  }
  const queries = parseParameters(batch, json);
  if (Object.keys(queries).length > QUERIES_MAX) {
    throw invalidParameter('queries', `must have at most ${QUERIES_MAX} queries`);
  }
  return queries;
}

/** Returns the results of the queries by their names. `types` are those that the account may match. */
export async function answerQueries(
  input: RouteInput,
  queries: Record<string, Query>,
  types: readonly EntityType[],
): Promise<Record<string, { result: Candidate[] }>> {
  const results = new Map<string, { result: Candidate[] }>();
  for (const type of types) {
    const asked = Object.entries(queries).filter(([, one]) => typeOf(one, types) === type);
    if (asked.length === 0) continue;
    const rows = asked.map(([, one]) => rowOf(type, one));
    const outcomes =
      type === 'person' ? await matchPeople(input, rows) : await matchFree(input, rows);
    const nameOf = type === 'company' ? await companyNames(input, outcomes) : () => undefined;
    for (const [index, [name, one]] of asked.entries()) {
      const outcome = outcomes[index];
      const found = outcome === undefined ? [] : candidatesOf(type, one, outcome, nameOf);
      results.set(name, { result: found.slice(0, one.limit) });
    }
  }
  return Object.fromEntries(Object.keys(queries).map((name) => [name, results.get(name) ?? none]));
}

const none = { result: [] };

/** The first type of the query that is offered; the first one offered without any. */
function typeOf({ type = [] }: Query, types: readonly EntityType[]): EntityType | undefined {
  const wanted = typeof type === 'string' ? [type] : type;
  return wanted.length === 0 ? types[0] : types.find((one) => wanted.includes(one));
}

/** The query as a row of a list. */
function rowOf(type: EntityType, { query: name, properties }: Query): RowInput {
  const { identifiers, subject } = operations[entityTypes[type].operation];
  const cells = new Map(
    properties.map(({ pid, v }): [string, string] => {
      const kind = columnKind(pid);
      // `NA` is a country.
      return [kind, kind === 'country' ? v : withoutPlaceholder(v)];
    }),
  );
  cells.set(type === 'person' ? 'person_name' : 'name', name.slice(0, TEXT_MAX));
  const cellsOf = (kind: string) => [cells.get(kind) ?? ''];
  const listed = cells.get('country') ?? '';
  const context = { subject, ...numberContext([listed], {}) };
  const read: RowIdentifier[] = [];
  for (const kind of identifiers) {
    const text = kind === 'name' ? '' : statedText(kind, cells.get(kind));
    const normalised = text === '' ? null : normaliseIdentifier(kind, text, context);
    if (normalised !== null && 'values' in normalised) {
      read.push({ kind, values: normalised.values });
    }
  }
  const likely = likelyCells(subject, cellsOf);
  return {
    identifiers: read,
    invalid: null,
    country: countryCode(listed),
    ...(isAddressForDomain('domain', cells.get('domain') ?? '')
      ? { isDomainOfAddress: true as const }
      : {}),
    ...(name === '' ? {} : namesIn(subject, likely)),
    likely,
  };
}

/** The text of a property's value: a text, a number, an entity by its name, or the first of several. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return textOf(value[0]);
  if (typeof value === 'object' && value !== null) {
    const { name, id } = value as { name?: unknown; id?: unknown };
    return textOf(name ?? id);
  }
  return value === undefined || value === null ? '' : String(value).slice(0, TEXT_MAX);
}

function matchFree({ context, key }: RouteInput, rows: RowInput[]): Promise<Outcome[]> {
  const graph = graphOf(context, key.mode === 'live');
  return enrichMany(graph, 'companies.enrich', rows, { minProbability: MIN_PROBABILITY_DEFAULT });
}

async function matchPeople(input: RouteInput, rows: RowInput[]): Promise<(Outcome | undefined)[]> {
  const minProbability = MIN_PROBABILITY_DEFAULT;
  return enrichAll(
    input,
    rows.map((row) => ({ operation: 'people.enrich', row, minProbability })),
  );
}

/**
 * Returns the names of the companies among the candidates. One of fewer than ten people may be named for its owner: its
 * name is told to who knows it.
 */
async function companyNames(
  { context, key }: RouteInput,
  outcomes: readonly (Outcome | undefined)[],
): Promise<(id: number, known: string) => string | undefined> {
  const ids = outcomes.flatMap((outcome) => [
    ...(outcome?.match ? [outcome.id] : []),
    ...(outcome?.likely?.candidates ?? []).map(({ id }) => id),
  ]);
  const found = await readCompanies(graphOf(context, key.mode === 'live'), [...new Set(ids)]);
  const companies = new Map(found.map((company) => [company.id, company]));
  return (id, known) => {
    const company = companies.get(id);
    if (company === undefined) return undefined;
    return company.count >= FEW || isSameName(company.name, known) ? company.name : undefined;
  };
}

function isSameName(one: string, other: string): boolean {
  const [a, b] = [normaliseCompanyName(one), normaliseCompanyName(other)];
  return 'values' in a && 'values' in b && a.values.some((value) => b.values.includes(value));
}

function candidatesOf(
  type: EntityType,
  { query: text }: Query,
  outcome: Outcome,
  nameOf: (id: number, known: string) => string | undefined,
): Candidate[] {
  const view = (id: number, probability: number, match: boolean, own?: string): Candidate => ({
    id: entityId({ type, id }),
    // Of a candidate that is not paid for, what the caller knows.
    name: own ?? nameOf(id, text) ?? text,
    type: [viewType(type)],
    score: Math.round(probability * PERCENT * PERCENT) / PERCENT,
    match,
    features: [{ id: 'probability', value: probability }],
  });
  if (outcome.match === null) {
    const candidates = outcome.likely?.candidates ?? [];
    return candidates.map(({ id, probability }) => view(id, probability, false));
  }
  const { id, likely } = outcome;
  const own = type === 'person' ? personName(outcome) : undefined;
  const evidence = likely?.evidence ? { description: likely.evidence } : {};
  return [{ ...view(id, likely?.probability ?? 1, true, own), ...evidence }];
}

/** The name of a person whose match is paid. */
function personName({ match }: Outcome): string | undefined {
  if (match === null) return undefined;
  const { name, surname } = JSON.parse(matchToJson('people.enrich', match)) as Record<
    string,
    string
  >;
  return `${name} ${surname}`.trim() || undefined;
}
