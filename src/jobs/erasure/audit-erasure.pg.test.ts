/** The audit of an erasure reads all rows that may hold an identifier, however many hold a longer one. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { auditErasure } from './audit-erasure.ts';
import { readLastChange } from './erasure.sql.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline();
});
afterAll(() => pipeline.close());

test('finds the last of many rows, and kinds that are in different ones', async () => {
  const { sql, context } = pipeline;
  const identifiers = [
    { kind: 'email' as const, value: 'ada@home.example' },
    { kind: 'phone' as const, value: '+441632960001' },
  ];
  const auditNow = async () => auditErasure(context, [], identifiers, await readLastChange(sql));
  const addAccounts = (name: string, count: number) => sql`
    insert into accounts (id, name)
    select gen_random_uuid(), ${name} from generate_series(1, ${count}::int)`;
  await addAccounts('ada@home.example.org', 2_500);
  expect((await auditNow()).left).toEqual([]);
  await addAccounts('ask ada@home.example', 1);
  await addAccounts('call +441632960001', 1);
  const { left } = await auditNow();
  expect(left.map(({ where, found }) => [where, found.toSorted()])).toEqual([
    ['public.accounts', ['email', 'phone']],
  ]);
});

test('reports the name of an imported file as text of who named it', async () => {
  const { sql, context } = pipeline;
  await sql`
    insert into imports (source, files, sha256, as_of)
    values ('vcard', array['Ada +441632960009.vcf'], '', '2026-01-01')`;
  const identifiers = [{ kind: 'phone' as const, value: '+441632960009' }];
  const { left, customer_uploads } = await auditErasure(
    context,
    [],
    identifiers,
    await readLastChange(sql),
  );
  expect([left, customer_uploads]).toEqual([[], [{ where: 'graph.imports', found: ['phone'] }]]);
});

test('reports filters and names that customers keep as their text', async () => {
  const { context } = pipeline;
  const by = await pipeline.account(1);
  const filter = 'email=ada.filter@home.example';
  const post = async (path: string, body: object) => {
    const made = await pipeline.call(by, path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(made.status).toBe(201);
  };
  await post('/v1/searches', { name: 'one', filter });
  await post('/v1/schedules', { name: 'two', filter, cron: '30 2 * * *' });
  const identifiers = [{ kind: 'email' as const, value: 'ada.filter@home.example' }];
  const audit = await auditErasure(context, [], identifiers, await readLastChange(pipeline.sql));
  expect(audit.left).toEqual([]);
  expect(audit.customer_uploads.map(({ where }) => where)).toEqual([
    'public.saved_searches',
    'public.schedules',
  ]);
});

test('reports what a customer sent with a key of the call as their text, and what the response says of people as ours', async () => {
  const { context, sql } = pipeline;
  const by = await pipeline.account(1);
  const email = 'ada.sent@home.example';
  const create = async (key: string, filter: string) => {
    const made = await pipeline.call(by, '/v1/searches', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
      body: JSON.stringify({ name: key, filter }),
    });
    expect(made.status).toBe(201);
  };
  await create('one', `email=${email}`);
  await create(email, 'surname=Lark');
  await sql`delete from saved_searches`;
  await sql`update api_keys set name = ${email}`;
  const identifiers = [{ kind: 'email' as const, value: email }];
  const run = async () => auditErasure(context, [], identifiers, await readLastChange(sql));
  const { left, customer_uploads } = await run();
  expect([left, customer_uploads.map(({ where }) => where)]).toEqual([
    [],
    ['public.api_keys', 'public.idempotency_keys'],
  ]);
  const body = { people: [7], answer: { data: { email } } };
  await sql`update idempotency_keys set body = ${JSON.stringify(body)}::text::json where key = 'one'`;
  expect((await run()).left).toEqual([{ where: 'public.idempotency_keys', found: ['email'] }]);
});
