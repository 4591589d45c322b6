/** The maximum number of entries of a do-not-contact list. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { rowsRead } from '../../../tests/support/rows-read.ts';
import { deleteContacts } from './do-not-contact.sql.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  caller = await pipeline.account(1);
});
afterAll(() => pipeline.close());

const send = (method: string, domains: string[]) =>
  pipeline.call(caller, '/v1/do-not-contact', {
    method,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ domains }),
  });

async function counted(): Promise<{ listed: number; entries: number }> {
  const [row] = await pipeline.sql<{ listed: number; entries: number }[]>`
    select (select count(*)::int from do_not_contact) as listed, sum(entries)::int as entries
    from do_not_contact_versions`;
  return row as { listed: number; entries: number };
}

const domains = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `d${from + index}.example`);

test('the count follows entries that are added, repeated or removed, also concurrently', async () => {
  await Promise.all([
    send('POST', domains(0, 50)),
    send('POST', domains(25, 75)),
    send('POST', domains(50, 100)),
  ]);
  expect(await counted()).toEqual({ listed: 100, entries: 100 });
  await Promise.all([send('DELETE', domains(0, 10)), send('DELETE', domains(5, 30))]);
  expect(await counted()).toEqual({ listed: 70, entries: 70 });
});

test('a call that exceeds the maximum is refused as a whole, also concurrently', async () => {
  // As if the list already held all the others.
  await pipeline.sql`update do_not_contact_versions set entries = entries + 999_900`;
  const answers = await Promise.all(
    [100, 120, 140].map((from) => send('POST', domains(from, from + 20))),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  const [refused] = answers.filter(({ status }) => status === 409);
  const problem = await expectProblem(refused as Response, {
    status: 409,
    code: 'too_many_entries',
  });
  expect(problem).toMatchObject({ entries_max: 1_000_000 });
  expect(problem.detail).toMatch(/1000000 entries.*none was added/);
  expect(await counted()).toEqual({ listed: 90, entries: 999_990 });
  // A listed entry adds nothing.
  expect((await send('POST', domains(30, 40))).status).toBe(200);
  await send('DELETE', domains(30, 40));
  expect((await send('POST', domains(200, 210))).status).toBe(200);
});

test('removing entries reads no others, of its list or another', async () => {
  const { accountId: other } = await pipeline.account(1);
  const { accountId } = await pipeline.account(1);
  for (const owner of [other, accountId]) {
    await pipeline.sql`
      insert into do_not_contact (account_id, live, email_sha256, domain)
      select ${owner}::uuid, true, sha256(n::text::bytea), null from generate_series(1, 10000) n
      union all select ${owner}::uuid, true, null, 'e' || n || '.example' from generate_series(1, 10000) n`;
  }
  await pipeline.sql`vacuum (analyze) do_not_contact`;
  const removed = {
    emailHashes: [hashOf('7'), hashOf('none')],
    domains: ['e9.example', 'e0.example'],
  };
  const read = await rowsRead(pipeline.sql, ['do_not_contact'], async (tx) => {
    expect(await deleteContacts(tx, { accountId, live: true }, removed)).toBe(2);
  });
  // Each is found, then deleted.
  expect(read).toBe(4);
});

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');
