/** The audit of an erasure finds what is left of a person, and nothing that only looks like it. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { ada, smallGraph } from '../../../tests/support/small-graph.ts';
import type { PersonIdentifier } from '../../core/suppression/suppress.ts';
import { auditErasure } from './audit-erasure.ts';
import { erasePerson } from './erase-person.ts';
import { readLastChange } from './erasure.sql.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeEach(async () => {
  pipeline = await openPipeline();
  await importGraph(pipeline.sql, smallGraph);
  caller = await pipeline.account(1);
});
afterEach(() => pipeline.close());

/** Audits as of now. */
const auditNow = async (ids: number[], identifiers: PersonIdentifier[]) =>
  auditErasure(pipeline.context, ids, identifiers, await readLastChange(pipeline.sql));

const person = [{ kind: 'email' as const, value: ada.email }];

test.each([
  [
    'a table of the graph',
    'graph.companies',
    "update companies set summary = 'ask Ada@home.example.' where id = 11",
  ],
  ['a table of the service', 'public.accounts', "update accounts set name = 'ada@home.example'"],
])('finds what is left in %s', async (_, where, statement) => {
  await erasePerson(pipeline.context, { id: 1 });
  await pipeline.sql.unsafe(statement);
  const { left } = await auditNow([1], person);
  expect(left).toEqual([{ where, found: ['email'] }]);
});

test('finds traces in an object, across the blocks of its stream, and in the service’s cells', async () => {
  const options = { operation: 'people.enrich' };
  const id = await pipeline.enrich(caller, 'email\nada@home.example\n', options);
  await erasePerson(pipeline.context, { id: 1 });
  const padding = 'x'.repeat(65_530);
  await pipeline.context.store.put('exports/1', [Buffer.from(`${padding} ada@home.example`)]);
  const debris = `batches/${id}/parts/9-0-1.csv`;
  const row = 'ada@home.example,matched,email,,false,1,1,,,ada@home.example\n';
  await pipeline.context.store.put(debris, [Buffer.from(row)]);
  const { left } = await auditNow([1], person);
  expect(left.map(({ where }) => where).sort()).toEqual([debris, 'exports/1']);
});

test.each([
  ['people.enrich', 'email\nada@home.example\n', 'id,title'],
  ['companies.enrich', 'registry_number\n01234567\n', 'directors'],
])(
  'finds the person by id in a replaced part of %s that could not be deleted, also when erased again',
  async (operation, list, fields) => {
    const { store } = pipeline.context;
    await pipeline.enrich(caller, list, { operation, fields });
    const keys = (await pipeline.objects()).filter((key) => key.includes('/parts/'));
    const read = async (key: string) =>
      store.get(key, { from: 0, to: (await store.head(key)) ?? 0 });
    const before = await Promise.all(keys.map(read));
    expect(await erasePerson(pipeline.context, { id: 1 })).toMatchObject({ erased: 1, left: [] });
    for (const [index, key] of keys.entries()) await store.put(key, [before[index] as Buffer]);
    const { left } = await erasePerson(pipeline.context, { id: 1 });
    const parts = keys.filter((key) => key.endsWith('.csv'));
    expect(left).toEqual(parts.map((where) => ({ where, found: ['id'] })));
    for (const key of keys) await store.delete(key);
    expect(await erasePerson(pipeline.context, { id: 1 })).toMatchObject({ left: [] });
  },
);

test('does not mistake a longer address or number for the person’s', async () => {
  await erasePerson(pipeline.context, { id: 1 });
  const text = 'xada@home.example ada@home.example.org +4416329600012 in/ada-lovely-2 @adam';
  await pipeline.sql`update accounts set name = ${text}`;
  const all = [
    ...person,
    { kind: 'phone' as const, value: '+441632960001' },
    { kind: 'professional_network' as const, value: 'ada-lovely' },
    { kind: 'twitter' as const, value: 'ada' },
  ];
  expect((await auditNow([1], all)).left).toEqual([]);
  await pipeline.sql`update accounts set name = 'see https://x.org/in/ada-lovely/ or @ada'`;
  expect((await auditNow([1], all)).left).toEqual([
    { where: 'public.accounts', found: ['professional_network', 'twitter'] },
  ]);
});
