import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { acme, emptyCompany, smallGraph } from '../../../tests/support/small-graph.ts';
import { suppress } from '../../core/suppression/suppress.ts';
import { audit } from '../../jobs/audit/audit.ts';
import { erasePerson } from '../../jobs/erasure/erase-person.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline();
  await importGraph(pipeline.sql, smallGraph);
});
afterAll(() => pipeline.close());

const get = (caller: Caller, path: string, key: string) =>
  pipeline.call(caller, path, { headers: { 'Idempotency-Key': key } });

const ada = '/v1/people/enrich?email=ada%40acme.example';

describe('the same call again', () => {
  test('has the answer that it had, and is paid once', async () => {
    const caller = await pipeline.account(1);
    const first = await get(caller, ada, 'a');
    expect(first.status).toBe(200);
    expect(first.headers.get('x-credits-charged')).toBe('1');
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    // The wallet is empty now, and a replay needs nothing from it.
    const again = await get(caller, ada, 'a');
    expect(again.status).toBe(200);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.headers.get('x-credits-charged')).toBe('0');
    // Byte for byte: the members stay in the record's order.
    expect(await again.text()).toBe(await first.text());
    expect(await pipeline.wallet(caller)).toEqual({ balance: 0, reserved: 0 });
  });

  test('under another path of the search is paid once', async () => {
    const caller = await pipeline.account(10);
    const paths = ['/personsearch/', '/personsearch', '/v1/personsearch'];
    const replayed: (string | null)[] = [];
    for (const path of paths) {
      const response = await get(caller, `${path}?workEmail=ada%40acme.example&limit=1`, 'search');
      expect(response.status).toBe(200);
      replayed.push(response.headers.get('idempotent-replayed'));
    }
    expect(replayed).toEqual([null, 'true', 'true']);
    expect(await pipeline.wallet(caller)).toEqual({ balance: 9, reserved: 0 });
  });

  test('has it for a miss and an ambiguity too', async () => {
    const caller = await pipeline.account(2);
    const nobody = '/v1/people/enrich?email=late%40acme.example';
    await expectProblem(await get(caller, nobody, 'n'), { status: 404, code: 'no_match' });
    await importGraph(pipeline.sql, { persons: [{ id: 77, email: 'late@acme.example' }] });
    const again = await get(caller, nobody, 'n');
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([404, 'true']);
    expect(again.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    const shared = '/v1/people/enrich?phone=%2B441632960099';
    await get(caller, shared, 's');
    const replayed = await get(caller, shared, 's');
    expect([replayed.status, replayed.headers.get('idempotent-replayed')]).toEqual([409, 'true']);
    expect((await get(caller, nobody, 'other')).status).toBe(200);
  });

  test('to an object with an endless id is refused as without a key', async () => {
    const caller = await pipeline.account(0);
    const id = randomBytes(4500).toString('base64url');
    const response = await pipeline.call(caller, `/v1/batches/${id}/rerun`, {
      method: 'POST',
      headers: { 'Idempotency-Key': 'long', 'Content-Type': 'application/json' },
      body: '{"outcomes":["no_match"]}',
    });
    await expectProblem(response, { status: 404, code: 'not_found' });
  });

  test('that could not be paid is done once it can', async () => {
    const caller = await pipeline.account(0);
    await expectProblem(await get(caller, ada, 'p'), { status: 402, code: 'insufficient_credits' });
    await pipeline.grant(caller, 1, 'more');
    const paid = await get(caller, ada, 'p');
    expect([paid.status, paid.headers.get('idempotent-replayed')]).toEqual([200, null]);
  });

  test('sent many times at once is paid once', async () => {
    const caller = await pipeline.account(50);
    const answers = await Promise.all(Array.from({ length: 10 }, () => get(caller, ada, 'm')));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => ![200, 409].includes(status))).toEqual([]);
    expect(statuses).toContain(200);
    expect(await pipeline.wallet(caller)).toEqual({ balance: 49, reserved: 0 });
    expect((await audit(pipeline.sql)).ok).toBe(true);
  });
});

test('another call with the same key is refused', async () => {
  const caller = await pipeline.account(5);
  await get(caller, ada, 'x');
  const other = await get(caller, `${ada}&fields=name`, 'x');
  await expectProblem(other, { status: 422, code: 'idempotency_key_reused' });
  const empty = await get(caller, ada, ' ');
  await expectProblem(empty, { status: 400, code: 'invalid_parameter' });
});

test("an account's key is nothing to another account, nor to its test keys", async () => {
  const caller = await pipeline.account(5);
  const tester = await pipeline.keyOf(caller.accountId, 'test');
  const stranger = await pipeline.account(5);
  await get(caller, ada, 'shared');
  expect((await get(tester, ada, 'shared')).status).toBe(404);
  const response = await get(stranger, ada, 'shared');
  expect([response.status, response.headers.get('x-credits-charged')]).toEqual([200, '1']);
});

describe('who opted out since', () => {
  test('is not served again, with fields or without', async () => {
    const caller = await pipeline.account(5);
    const paths = [
      '/v1/people/enrich?email=out%40acme.example',
      '/v1/people/enrich?email=out%40acme.example&fields=name',
      '/v1/people/mobile?email=out%40acme.example',
    ];
    await pipeline.grant(caller, 20, 'enough');
    for (const [index, path] of paths.entries()) {
      expect((await get(caller, path, `o${index}`)).status).toBe(200);
    }
    const company = '/v1/companies/enrich?registry_number=01234567';
    expect(await (await get(caller, company, 'c')).text()).toContain('"person_id":5');
    await suppress(pipeline.sql, 'out@home.example');
    for (const [index, path] of paths.entries()) {
      const replayed = await get(caller, path, `o${index}`);
      await expectProblem(replayed, { status: 404, code: 'no_match' });
    }
    const after = await get(caller, company, 'c');
    const text = await after.text();
    expect([after.status, after.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect(text).not.toContain('"person_id":5');
    expect(after.headers.get('x-credits-charged')).toBe('0');
  });

  test('is named no more among the candidates of a name, nor is who was erased', async () => {
    const caller = await pipeline.account(5);
    const namesake = { name: 'Tilda', surname: 'Quirin', companyId: acme.id };
    const persons = [31, 32, 33].map((id) => ({
      ...namesake,
      id,
      email: `tilda${id}@home.example`,
    }));
    await importGraph(pipeline.sql, { persons });
    const path = '/v1/people/enrich?match=likely&name=Tilda+Quirin&company=Acme+Widgets';
    for (const [key, leave] of [
      ['opted out', () => suppress(pipeline.sql, 'tilda31@home.example')],
      ['erased', () => erasePerson(pipeline.context, { id: 32 })],
    ] as const) {
      const first = await expectProblem(await get(caller, path, key), {
        status: 409,
        code: 'ambiguous_match',
      });
      expect(JSON.stringify(first.candidates)).toContain('"id":32');
      await leave();
      await expectProblem(await get(caller, path, key), { status: 404, code: 'no_match' });
    }
  });

  test('is not named again as a director who was no person of the graph then', async () => {
    const caller = await pipeline.account(5);
    const company = { ...emptyCompany, id: 910, registryNumber: '09000010', registryCountry: 'GB' };
    const officer = { companyId: 910, name: 'QUILL, Nora', role: 'director', birthYear: 1961 };
    await importGraph(pipeline.sql, { companies: [company], officers: [officer] });
    const path = '/v1/companies/enrich?registry_number=09000010';
    expect(await (await get(caller, path, 'quill')).text()).toContain('QUILL');
    const email = 'nora@home.example';
    const nora = { id: 911, name: 'Nora', surname: 'Quill', birthYear: 1961, email };
    await importGraph(pipeline.sql, { persons: [nora] });
    await suppress(pipeline.sql, email);
    const replayed = await get(caller, path, 'quill');
    expect([replayed.status, replayed.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect(await replayed.text()).not.toContain('QUILL');
  });

  test('leaves the answer about their company as it was paid for, whatever the graph says by now', async () => {
    const caller = await pipeline.account(5);
    const directed = {
      ...acme,
      id: 900,
      registryNumber: '09000001',
      website: 'https://old.example',
    };
    const people = [
      { id: 901, email: 'leaver@home.example' },
      { id: 902, email: 'stayer@home.example' },
    ];
    await importGraph(pipeline.sql, {
      persons: people,
      companies: [directed],
      officers: people.map(({ id }) => ({
        companyId: 900,
        name: `Director ${id}`,
        role: 'director',
        personId: id,
      })),
    });
    const paths = ['', '&fields=directors'].map(
      (more) => `/v1/companies/enrich?registry_number=09000001&required=website${more}`,
    );
    type Answer = { data: { directors: { person_id: number }[] } };
    const first: Answer[] = [];
    for (const [index, path] of paths.entries()) {
      first.push((await (await get(caller, path, `r${index}`)).json()) as Answer);
    }
    // Another company has the number, without what was required.
    await importGraph(pipeline.sql, {
      companies: [
        { ...directed, registryNumber: null, website: null },
        {
          ...emptyCompany,
          id: 903,
          name: 'Other Ltd',
          registryNumber: '09000001',
          registryCountry: 'GB',
        },
      ],
    });
    await suppress(pipeline.sql, 'leaver@home.example');
    const expected = first.map((answer) => {
      const left = answer.data.directors.map((one) =>
        one.person_id === 901 ? { ...one, name: null, person_id: null, matched_by: null } : one,
      );
      expect(left).not.toEqual(answer.data.directors);
      return { ...answer, data: { ...answer.data, directors: left } };
    });
    for (const [index, path] of paths.entries()) {
      const replayed = await get(caller, path, `r${index}`);
      expect([replayed.status, await replayed.json()]).toEqual([200, expected[index]]);
    }
  });
});
