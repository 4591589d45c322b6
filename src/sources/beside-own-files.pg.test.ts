/** A file with ids of one's own that is imported while a source is: neither would see the records of the other. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { filesOf, noRejects, sourceInput } from '../../tests/support/source-input.ts';
import { importSource } from '../core/graph/sources/import-source.ts';

let pipeline: Pipeline;
let by: Caller;
beforeEach(async () => {
  pipeline = await openPipeline();
  by = await pipeline.account(1000);
});
afterEach(() => pipeline.close());

const email = 'ada@home.example';
const ada = { name: 'Ada', surname: 'Lark', email };

it('is refused until then; afterwards the records of one person are joined', async () => {
  const own = () => importGraph(pipeline.sql, { persons: [{ id: 7, ...ada }] });
  const input = sourceInput({ rows: filesOf([{ entity: 'person', key: 'a', record: ada }]) });
  let refusal: unknown;
  await importSource(pipeline.sql, input, {
    rejects: noRejects(),
    async onWritten() {
      refusal = await own().catch((error: unknown) => error);
    },
  });
  expect(refusal).toMatchObject({ status: 409, code: 'import_running' });
  await own();
  const call = await pipeline.call(by, `/v1/people/enrich?email=${email}`);
  expect([call.status, await call.json()]).toMatchObject([200, { data: { id: 7 } }]);
});
