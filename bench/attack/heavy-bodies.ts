/** Unmetered calls of at most 4 MB whose shape, not their size, takes the time of the process that serves everyone. */
import { setTimeout } from 'node:timers/promises';
import { assert } from '../../src/core/lib/assert.ts';
import { askChild } from '../child.ts';
import type { Latencies, OpenLoop } from '../open-loop.ts';
import { type Arena, type Attack, type Caller, type Finding, jsonBody } from './arena.ts';

const REQUESTS_PER_SECOND = 100;
const SECONDS = 3;
const REPEATS = 3;
/** Longest time that one call may hold the thread, beyond what the same requests wait without it. */
const HELD_MS_MAX = 250;
const EXPORTS = 100;

interface HeavyCall {
  what: string;
  method?: string;
  path: string;
  type?: string;
  body?: string;
}

export const heavyBodies: Attack = {
  name: 'heavy-bodies',
  does: `sends bodies of hostile shape, each ${REPEATS} times, beside ${REQUESTS_PER_SECOND} health checks a second`,
  async run(arena) {
    const limits = { requestsPerMinute: 10_000, requestsPerDay: 100_000 };
    const attacker = await arena.account(0, limits);
    const calls = [...bodies(), ...(await stocked(arena, attacker))];
    const quiet = await listen(arena);
    const findings: Finding[] = [];
    for (const { what, path, method = 'POST', type = 'application/json', body } of calls) {
      const listening = listen(arena);
      await setTimeout(500);
      for (let times = 0; times < REPEATS; times++) {
        const sent = body === undefined ? {} : { body, headers: { 'Content-Type': type } };
        const response = await arena.call(attacker, path, { method, ...sent });
        await response.arrayBuffer();
        assert(response.status < 500, `${what} is no error of the service`);
      }
      const { max } = await listening;
      const measured = Math.max(0, max - quiet.max);
      findings.push({
        what: `${what}: held beyond ${quiet.max} ms`,
        measured,
        unit: 'ms',
        max: HELD_MS_MAX,
      });
    }
    return findings;
  },
};

/** The health checks are answered by the same thread, and ask no database. */
function listen({ stack }: Arena): Promise<Latencies> {
  return askChild<Latencies>('bench/open-loop-process.js', {
    addresses: [`${stack.url}/healthz`],
    headers: [{}],
    perSecond: REQUESTS_PER_SECOND,
    seconds: SECONDS,
  } satisfies OpenLoop);
}

const repeated = (count: number, text: string) => Array(count).fill(text).join();
const members = (count: number, value: string) =>
  Array.from({ length: count }, (_, index) => `"k${index}":${value}`).join();
const ideographs = (count: number, from: number) =>
  String.fromCodePoint(
    ...Array.from({ length: count }, (_, at) => 0x4e00 + ((at * 7919 + from) % 20_900)),
  );

function bodies(): HeavyCall[] {
  const contacts = '/v1/do-not-contact';
  const batches = '/v1/batches';
  const operation = '"operation":"people.enrich"';
  const hosts = (count: number, characters: number) =>
    Array.from({ length: count }, (_, at) => `"${ideographs(characters, at)}.com"`).join();
  const labels = (count: number) =>
    Array.from({ length: count }, (_, at) => {
      const host = [0, 1, 2].map((label) => ideographs(58, at + label)).join('.');
      return `"${host}.com"`;
    }).join();
  return [
    { what: '1,000,000 levels', path: contacts, body: '['.repeat(1e6) + ']'.repeat(1e6) },
    { what: '2,000,000 elements', path: contacts, body: `{"domains":[${repeated(2e6, '1')}]}` },
    { what: 'a number of 4,000,000 digits', path: contacts, body: `{"x":${'9'.repeat(4e6)}}` },
    { what: '10,000 wrong entries', path: contacts, body: `{"domains":[${repeated(1e4, '1')}]}` },
    {
      what: '1,400 hosts of 990 characters',
      path: contacts,
      body: `{"domains":[${hosts(1400, 990)}]}`,
    },
    { what: '7,000 Unicode hosts', path: contacts, body: `{"domains":[${labels(7000)}]}` },
    {
      what: '150,000 members',
      path: batches,
      body: `{${operation},"rows":[{${members(150_000, '[]')}}]}`,
    },
    {
      what: '100,000 wrong cells',
      path: batches,
      body: `{${operation},"rows":[${repeated(1000, `{${members(100, '[]')}}`)}]}`,
    },
    {
      what: '690,000 fields',
      path: batches,
      body: `{${operation},"rows":[{"email":"a@b.example"}],"fields":"${'id,'.repeat(690_000)}id"}`,
    },
    {
      what: '49,000 outcomes',
      path: `${batches}/0/rerun`,
      body: `{"outcomes":[${repeated(49_000, '1')}]}`,
    },
    {
      what: 'a header of 512 names, 100 rows',
      path: `${batches}?operation=people.enrich&hold=true`,
      type: 'text/csv',
      body: wideList('Äé1B'.repeat(30), 512),
    },
  ];
}

function wideList(name: string, columns: number): string {
  const header = Array.from({ length: columns }, (_, at) => `${at}${name}`.slice(0, 110)).join();
  const row = Array(columns).fill('a@b.example').join();
  return `${header}\n${`${row}\n`.repeat(100)}`;
}

/** Calls about things that the attacker has made. */
async function stocked(arena: Arena, attacker: Caller): Promise<HeavyCall[]> {
  const people = Array.from({ length: 9000 }, (_, at) => 1_000_000 + at);
  const filter = `id=[${people
    .join('|')
    .slice(0, 57_000)
    .replace(/\|\d*$/, '')}]`;
  for (let made = 0; made < EXPORTS; made++) {
    const body = jsonBody({ filter, hold: true, max_results: 1 });
    const response = await arena.call(attacker, '/v1/exports', body);
    assert(response.status === 202, `an export is made: ${response.status}`);
    await response.arrayBuffer();
  }
  const header = [
    ...Array.from({ length: 511 }, (_, at) => `${at}${'\ufdfa'.repeat(38)}`),
    'eMail',
  ].join();
  const query = new URLSearchParams({
    operation: 'companies.enrich',
    hold: 'true',
    mapping: '{"domain":512}',
  });
  const response = await arena.call(attacker, `/v1/batches?${query}`, {
    method: 'POST',
    headers: { 'Content-Type': 'text/csv' },
    body: `${header}\n${','.repeat(511)}a@b.example\n`,
  });
  assert(response.status === 202, `a list is held: ${response.status}`);
  const { id } = (await response.json()) as { id: string };
  const kinds = [
    'registry_number',
    'domain',
    'professional_network',
    'phone',
    'name',
    'country',
    'person_name',
    'company_name',
  ];
  const mapping = Object.fromEntries(kinds.map((kind) => [kind, Array(50).fill('E-MAIL')]));
  return [
    {
      what: `${EXPORTS} exports with filters of 57 kB`,
      method: 'GET',
      path: '/v1/exports?limit=100',
    },
    {
      what: '400 names for 512 columns',
      method: 'PATCH',
      path: `/v1/batches/${id}`,
      body: JSON.stringify({ mapping }),
    },
  ];
}
