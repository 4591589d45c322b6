/**
 * Responds with a page of a search: reads it, charges what it holds, sends it. With an Idempotency-Key the charge
 * and the response are kept together, and a replay sends the same people without a charge.
 */
import type { Request } from 'express';
import { chargePage } from '../core/credits/charge-page.sql.ts';
import { inTransaction, type Sql } from '../core/db/client.ts';
import { countWork } from '../core/enrich/count-work.ts';
import { paymentError } from '../core/enrich/enrich-calls.ts';
import {
  type DisclosedTotal,
  discloseTotal,
  identifyingParameter,
} from '../core/free-responses/free-responses.ts';
import { personFields } from '../core/graph/fields.ts';
import { graphOf } from '../core/graph/graph-of.ts';
import { recordToJson } from '../core/graph/record.ts';
import { personSearch } from '../core/operations.ts';
import { cursorAfter, readPage } from '../core/search/page.ts';
import type { Filter } from '../core/search/parse.ts';
import type { PageRequest } from '../core/search/parse-page.ts';
import { prepareFilter } from '../core/search/prepare.ts';
import { type PersonRow, selectRecords } from '../core/search/search.sql.ts';
import { credentialsEnded } from '../core/sessions/still-in-force.ts';
import { availableBefore } from './answer-call.ts';
import { setCreditHeaders } from './authorize.ts';
import type { HandlerInput, RouteInput } from './define-route.ts';
import type { KeptResponse } from './idempotent-request.ts';
import { requestIdOf } from './problem.ts';
import { queryString } from './query-string.ts';
import { runSearch } from './run-search.ts';

/** A call, and what it asks for. */
interface SearchCall extends RouteInput {
  filter: Filter;
  page: PageRequest;
}

/** The stored part of a response: the people in it and its headers. */
interface KeptAnswer {
  people: number[];
  next: string | null;
  total: number | null;
  /** Absent in what a version before this one kept, which was exact. */
  totalIs?: DisclosedTotal['total_is'];
  isPartial: boolean;
}

const writePerson = (record: string) => recordToJson(personFields, record);

/** Sends the page. Throws `AppError` for what cannot be read, found in time or paid; nothing is charged then. */
export async function answerSearch(
  call: SearchCall,
  keep: HandlerInput<unknown, unknown, undefined, never>['keep'],
): Promise<void> {
  const { context, key, response, filter, page } = call;
  const live = key.mode === 'live';
  if (live) {
    // A refusal after the look-up would reveal for free that somebody meets the filter, or how many do.
    const isWhole = !page.partial && identifyingParameter(filter) !== null;
    const needed = (isWhole ? page.limit : 1) * personSearch.price;
    const purse = { available: availableBefore(call), leftToday: key.creditsLeftToday };
    const refused = paymentError(needed, purse);
    if (refused !== null) throw refused;
  }
  const found = await runSearch(call, async (graph, owner) => {
    const prepared = await prepareFilter(graph, filter, owner);
    return readPage({ graph, hints: context.sql }, prepared, page);
  });
  // Nobody is there to be answered, so nothing is sold.
  if (response.destroyed) return;
  const paying = inTransaction(context.sql, async (tx) => {
    const granted = live ? await pay(tx, call, found.people.length) : found.people.length;
    const people = found.people.slice(0, granted);
    const last = people.at(-1);
    const isPartial = granted < found.people.length;
    const next = last && (found.hasMore || isPartial) ? cursorAfter(last, filter) : null;
    const told = tellCount(found.total, people.length, filter);
    const kept = { people: people.map(({ id }) => id), next, ...told, isPartial };
    await keep(tx, { status: 200, body: kept });
    return { people, kept };
  });
  const paid = paying.then((page) => {
    countPage(page.people.length, live);
    return page;
  });
  const [{ people, kept }] = await Promise.all([paid, found.remember()]);
  send(call, people, kept);
}

/**
 * The total as the page may tell it: exactly once somebody of it was paid for; else as a preview does, which
 * counts nobody by what names people.
 */
function tellCount(
  total: number | null,
  paid: number,
  filter: Filter,
): Pick<KeptAnswer, 'total' | 'totalIs'> {
  if (total === null || paid > 0) return { total, totalIs: 'exact' };
  if (identifyingParameter(filter) !== null) return { total: null };
  const told = discloseTotal(total);
  return { total: told.total, totalIs: told.total_is };
}

/** Charges the page and says so. Returns how many of its people were paid. */
async function pay(tx: Sql, call: SearchCall, records: number): Promise<number> {
  const { key, credentials, response, page } = call;
  if (records === 0) return 0;
  const { granted, remaining, leftToday } = await chargePage(tx, {
    accountId: key.accountId,
    ...credentials,
    reference: `search:${requestIdOf(response)}`,
    operation: 'people.search',
    records,
    partial: page.partial,
  });
  if (granted === null) throw await credentialsEnded(tx, credentials);
  if (granted === 0) {
    // How many there are is not told for nothing: only what such a page may cost.
    const needed = page.partial ? personSearch.price : page.limit * personSearch.price;
    const refused = paymentError(needed, { available: remaining, leftToday });
    if (refused !== null) throw refused;
  }
  setCreditHeaders(response, granted, remaining);
  return granted;
}

function countPage(people: number, live: boolean): void {
  const { name: operation, price } = personSearch;
  const credits = live ? people * price : 0;
  countWork({ channel: 'search', operation, live, rows: { matched: people }, credits });
}

/** Sends the same people as they are now, without those who opted out since. */
export async function replaySearch(call: RouteInput, { body }: KeptResponse): Promise<void> {
  const { context, key, response } = call;
  const kept = body as KeptAnswer;
  const graph = graphOf(context, key.mode === 'live');
  response.setHeader('Idempotent-Replayed', 'true');
  send(call, await selectRecords(graph, kept.people), kept);
}

function send({ request, response }: RouteInput, people: PersonRow[], kept: KeptAnswer): void {
  if (kept.next !== null) response.setHeader('Link', nextLink(request, kept.next));
  if (kept.total !== null) {
    response.setHeader('X-Total-Count', String(kept.total));
    response.setHeader('X-Total-Is', kept.totalIs ?? 'exact');
  }
  if (kept.isPartial) response.setHeader('X-Partial', 'true');
  response.type('application/json');
  response.send(`[${people.map(({ record }) => writePerson(record)).join(',')}]`);
}

/** The same search behind the page, as RFC 8288 writes a link. */
function nextLink(request: Request, cursor: string): string {
  const rest = queryString(request)
    .split('&')
    .filter((part) => part !== '' && !/^(cursor|skip)=/.test(part));
  const query = [...rest, `cursor=${cursor}`].join('&');
  // What a header or the angle brackets around an address cannot hold.
  const address = query.replace(/[^\x21-\x7e]|[<>"]/gu, encodeURIComponent);
  return `<${request.path}?${address}>; rel="next"`;
}
