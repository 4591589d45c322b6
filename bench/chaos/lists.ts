/** The lists that a run uploads, and their results without faults. */
import { setTimeout as delay } from 'node:timers/promises';
import { generateLeads } from '../../samples/generate/generate-leads.ts';
import type { Database } from '../../src/core/db/client.ts';
import { must } from '../../src/core/lib/assert.ts';
import {
  type OperationName,
  operations,
  type PricedOperation,
  personSearch,
} from '../../src/core/operations.ts';
import type { Answer, ApiCaller } from './api-caller.ts';
import { namesakeRows } from './namesakes.ts';
import type { Random } from './random.ts';

const UNDISTURBED_MS_MAX = 120_000;
const LOOK_AGAIN_MS = 200;

export interface ListSpec {
  name: string;
  /** A list that is uploaded, or an export of people. */
  kind: 'batches' | 'exports';
  /** The request that creates it, with these additional options. */
  request(more: MoreOptions): FormData | object;
  operation: PricedOperation;
  /** Credits of a match. */
  price: number;
}

export interface MoreOptions {
  hold?: true;
  max_credits?: number;
}

/** A list, and its result without faults. */
export interface KnownList extends ListSpec {
  rows: number;
  result: Buffer;
  charged: number;
}

const shapes: [rows: number, operation: OperationName, more: Record<string, string>][] = [
  [1, 'people.enrich', {}],
  [9, 'people.mobile', {}],
  [120, 'people.email-verify', {}],
  [450, 'people.enrich', {}],
  [900, 'people.mobile', { fields: 'mobile' }],
  [1_500, 'people.enrich', { fields: 'id,email', dedupe: 'true' }],
  [1_200, 'people.enrich-with-company', { fields: 'person.id,company.id' }],
  [3_000, 'people.enrich', { fields: 'id,name,surname,email' }],
];

/** The list whose ambiguous rows are decided. */
export const LIKELY_LIST = 'likely matches';

const filters = ['gender=2', 'emailTypeId=1&isX=1'];

/** Creates the lists: leads about the stored people, with duplicate rows where requested. */
export async function makeLists(sql: Database, random: Random): Promise<ListSpec[]> {
  const lists: ListSpec[] = [];
  for (const [index, [rows, operation, more]] of shapes.entries()) {
    const pieces: string[] = [];
    const seed = index + 1;
    for await (const { leads } of generateLeads(sql, { rows, seed, style: 'plain' })) {
      pieces.push(leads);
    }
    const [header = '', ...lines] = pieces.join('').trimEnd().split('\n');
    if (more.dedupe === 'true') {
      for (let doubled = 0; doubled < rows / 4; doubled++) {
        lines[random.between(0, rows - 1)] = random.pick(lines);
      }
    }
    const csv = [header, ...lines, ''].join('\n');
    lists.push({
      name: `${operation} of ${rows}`,
      kind: 'batches',
      request: (options) => uploadForm(csv, { operation, ...more, ...options }),
      operation,
      price: operations[operation].price,
    });
  }
  lists.push(likelyList());
  for (const filter of filters) {
    lists.push({
      name: `export of ${filter}`,
      kind: 'exports',
      request: (options) => ({ filter, fields: ['id', 'name', 'email'], ...options }),
      operation: personSearch.name,
      price: personSearch.price,
    });
  }
  return lists;
}

/** Names with a company: some match, two people fit each of the others. */
function likelyList(): ListSpec {
  const operation = 'people.enrich';
  const rows = namesakeRows.map(({ cells }) => cells.join(','));
  const csv = ['First name,Last name,Company', ...rows, ''].join('\n');
  const form = { operation, fields: 'id,name,surname', match: 'likely' };
  return {
    name: LIKELY_LIST,
    kind: 'batches',
    request: (options) => uploadForm(csv, { ...form, ...options }),
    operation,
    price: operations[operation].price,
  };
}

/** The body of an upload with these options. */
export function uploadForm(csv: string, options: object): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(options)) form.set(name, String(value));
  form.set('file', new Blob([csv]), 'list.csv');
  return form;
}

export interface BatchAnswer {
  id: string;
  state: string;
  reason: string | null;
  rows: Record<string, number | null>;
  credits: { charged: number; reserved: number; max: number | null };
}

export function hasEnded({ state }: { state: string }): boolean {
  return ['completed', 'cancelled', 'failed'].includes(state);
}

/** Runs each list once without faults, and keeps its result. */
export async function runUndisturbed(
  api: ApiCaller,
  key: string,
  lists: readonly ListSpec[],
): Promise<KnownList[]> {
  return Promise.all(lists.map((list) => runOne(api, key, list)));
}

async function runOne(api: ApiCaller, key: string, list: ListSpec): Promise<KnownList> {
  const base = `/v1/${list.kind}`;
  const body = () => list.request({});
  const accepted = await api.until({ key, route: `post ${base}`, body });
  const { id } = batchOf(accepted);
  const deadline = Date.now() + UNDISTURBED_MS_MAX;
  while (true) {
    const batch = batchOf(await api.until({ key, route: `get ${base}/{id}`, id }));
    if (batch.state === 'completed') {
      const results = await api.until({ key, route: `get ${base}/{id}/results`, id });
      const { bytes: result } = must(results, 'a result');
      const { charged } = batch.credits;
      return { ...list, rows: batch.rows.total ?? 0, result, charged };
    }
    if (hasEnded(batch) || Date.now() > deadline) {
      throw new Error(`${list.name} is ${batch.state} though nothing disturbed it`);
    }
    await delay(LOOK_AGAIN_MS);
  }
}

/** The batch in a response. Throws, with the response, when there is none. */
export function batchOf(answer: Answer | undefined): BatchAnswer {
  if (answer?.json === undefined) {
    throw new Error(`expected a batch, found ${answer?.status ?? 'no response'} ${answer?.bytes}`);
  }
  return answer.json as unknown as BatchAnswer;
}
