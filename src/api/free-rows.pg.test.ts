/**
 * Free rows of a list reveal nothing: whether a person is stored must not show in how another identifier of
 * the row is decided.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { changeOwnedDays } from '../core/credits/owned.ts';
import { suppress } from '../core/suppression/suppress.ts';

let pipeline: Pipeline;
afterAll(() => pipeline.close());

const shared = '+441632960771';
const anchor = { email: 'anchor@list.example', phone: '+441632960772' };
/** Stored without a mobile number, opted out, and not stored. */
const members = ['stored-one', 'gone-one', 'nobody-one'] as const;
beforeAll(async () => {
  pipeline = await openPipeline();
  const known = members.slice(0, 2).map((member, index) => {
    const email = `${member}@list.example`;
    return {
      id: 7104 + index,
      name: 'Mia',
      surname: 'Member',
      email,
      professional_network: member,
    };
  });
  await importGraph(pipeline.sql, {
    persons: [
      { id: 7101, name: 'One', phone: shared },
      { id: 7102, name: 'Two', phone: shared },
      { id: 7103, name: 'Ann', surname: 'Chor', ...anchor, mobile: '+447911123900' },
      ...known,
    ],
  });
  await suppress(pipeline.sql, 'gone-one@list.example');
});

const byEmail = {
  operation: 'people.enrich',
  mapping: '{"email":1,"phone":2,"person_name":3}',
  require_agreement: 'true',
};
const byProfile = {
  operation: 'people.mobile',
  mapping: '{"professional_network":1,"email":2,"person_name":3}',
  dedupe: 'true',
};
test.each([
  ['a value that several share', byEmail, null, `${shared},Zoe Xyz`],
  ['a paid record', { ...byEmail, dedupe: 'true' }, `${anchor.phone},Ann Chor`, null],
  ['a paid number', byProfile, `${anchor.email},Ann Chor`, null],
])(
  'next to %s does not distinguish an opt-out from a stranger',
  async (_what, options, paid, unpaid) => {
    const told = [];
    for (const member of members) {
      const caller = await pipeline.account(50);
      const own = options === byProfile ? member : `${member}@list.example`;
      const rows = [...(paid === null ? [] : [`,${paid}`]), `${own},${paid ?? unpaid}`];
      const list = `a,b,c\n${rows.join('\n')}\n`;
      const id = await pipeline.enrich(caller, list, options);
      const { text } = await pipeline.results(caller, id);
      const { rows: counts, credits } = await pipeline.batch(caller, id);
      told.push({ text: text.replaceAll(own, 'OWN'), counts, credits });
    }
    expect(told[0]).toEqual(told[2]);
    expect(told[1]).toEqual(told[2]);
    expect(told[2]?.counts).toMatchObject(
      paid === null ? { matched: 0, ambiguous: 1 } : { matched: 1, duplicate: 1 },
    );
  },
);

const next = (member: string) => `${anchor.email}, ${member}@list.example`;

/** The free rows of a list that ask for the members next to the anchor, whom its first row has paid for. */
async function freeRows(by: Caller, options: Record<string, string>): Promise<string[]> {
  const rows = [anchor.email, ...members.map((member) => `"${next(member)}"`)];
  const all = { operation: 'people.enrich', fields: 'id', ...options };
  const id = await pipeline.enrich(by, `email\n${rows.join('\n')}\n`, all);
  expect(await pipeline.batch(by, id)).toMatchObject({ credits: { charged: 1 } });
  return (await pipeline.results(by, id)).text.trim().split('\n').slice(2);
}

async function callsForOwned(by: Caller): Promise<string[]> {
  const told: string[] = [];
  for (const cell of [anchor.email, ...members.map(next)]) {
    const query = new URLSearchParams({ fields: 'id', email: cell });
    const call = await pipeline.call(by, `/v1/people/enrich?${query}`);
    const charged = call.headers.get('x-credits-charged');
    const { data, match } = (await call.json()) as Record<string, unknown>;
    told.push(JSON.stringify({ data, match, charged }));
  }
  return told.slice(1);
}

test.each([
  ['a duplicate', 0, (by: Caller) => freeRows(by, { dedupe: 'true' })],
  ['a row of an owned person', 30, (by: Caller) => freeRows(by, {})],
  ['a call for an owned person', 30, callsForOwned],
])('%s does not tell whether its other identifier is stored', async (_what, days, ask) => {
  const by = await pipeline.account(50);
  await changeOwnedDays(pipeline.sql, by.accountId, days);
  const told = (await ask(by)).map((row, index) => row.replaceAll(members[index] ?? '', 'OWN'));
  expect(told).toHaveLength(members.length);
  expect(new Set(told).size).toBe(1);
});

test('rows of an owned person do not tell how many rows disagree with their records', async () => {
  const by = await pipeline.account(50);
  await changeOwnedDays(pipeline.sql, by.accountId, 30);
  const told: unknown[] = [];
  for (const member of ['stored-one', 'nobody-one']) {
    const rows = [
      ...Array<string>(40).fill(`${anchor.email},,Ann Chor`),
      ...Array<string>(10).fill(`${member}@list.example,,Zoe Xyz`),
    ];
    const id = await pipeline.enrich(by, `a,b,c\n${rows.join('\n')}\n`, byEmail);
    const report = await pipeline.call(by, `/v1/batches/${id}/report`);
    told.push(((await report.json()) as { agrees: unknown }).agrees);
  }
  expect(await pipeline.wallet(by)).toMatchObject({ balance: 49 });
  expect(told).toEqual([{ yes: 40 }, { yes: 40 }]);
});
