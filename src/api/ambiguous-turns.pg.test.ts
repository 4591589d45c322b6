/** Candidates of ambiguous rows are compared with their rows anew for each page, for free: accounts take turns. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';
import { lookUpInTurn } from '../core/enrich/look-up-turns.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline();
  const person = { name: 'Ilka', surname: 'Quast', companyId: 10 };
  await importGraph(pipeline.sql, {
    companies: [{ id: 10, name: 'Nordlicht Optik' }],
    persons: [
      { ...person, id: 1 },
      { ...person, id: 2 },
    ],
  });
});
afterAll(() => pipeline.close());

test('a page of ambiguous rows takes one of the look-ups of its account', async () => {
  const [greedy, other] = [await pipeline.account(10), await pipeline.account(10)];
  const list = 'Name,Company\nIlka Quast,Nordlicht Optik\n';
  const options = { operation: 'people.enrich', match: 'likely' };
  const [ofGreedy, ofOther] = [
    await pipeline.enrich(greedy, list, options),
    await pipeline.enrich(other, list, options),
  ];
  const page = (caller: typeof greedy, id: string) =>
    pipeline.call(caller, `/v1/batches/${id}/ambiguous`);
  let letGo = () => {};
  const turn = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const held = Array.from({ length: 65 }, () =>
    lookUpInTurn(greedy.accountId, new AbortController().signal, () => turn),
  );
  const problem = await expectProblem(await page(greedy, ofGreedy), {
    status: 429,
    code: 'rate_limited',
  });
  expect(problem.detail).toContain('65 for look-ups by name of the account');
  expect(await (await page(other, ofOther)).json()).toMatchObject({
    data: [{ row: 1, candidates: [{ id: 1 }, { id: 2 }] }],
  });
  letGo();
  await Promise.all(held);
  expect((await page(greedy, ofGreedy)).status).toBe(200);
});
