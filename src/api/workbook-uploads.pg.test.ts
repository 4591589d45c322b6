import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';
import { crowd } from '../../tests/support/small-graph.ts';
import {
  type TestWorkbook,
  workbookParts,
  zipOf,
} from '../formats/xlsx/xlsx-fixtures.test-suite.ts';
import { readUpload } from '../jobs/list/read-upload.ts';
import { storeUpload } from '../jobs/list/store-upload.ts';

const BYTES_MAX = 1_000_000;

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline({ UPLOAD_BYTES_MAX: String(BYTES_MAX) });
  await importGraph(pipeline.sql, { persons: crowd(3) });
  caller = await pipeline.account(100);
});
afterAll(() => pipeline.close());

const emails =
  '<row><c t="str"><v>email</v></c></row><row><c t="str"><v>p1@list.example</v></c></row>';

async function post(workbook: TestWorkbook, signal?: AbortSignal): Promise<Response> {
  const body = new Uint8Array(await zipOf(workbookParts(workbook)));
  const headers = { 'Content-Type': 'application/octet-stream' };
  return pipeline.call(caller, '/v1/batches?operation=people.enrich&hold=true', {
    method: 'POST',
    headers,
    body,
    ...(signal === undefined ? {} : { signal }),
  });
}

test('a workbook whose sheet is more than an upload may be is refused, and nothing is kept', async () => {
  const strings = `<si><t>email</t></si><si><t>${'abcdefghij'.repeat(3000)}</t></si>`;
  const cell = (index: number) => `<row><c t="s"><v>${index}</v></c></row>`;
  const rows = cell(0) + cell(1).repeat(40);
  const refused = await post({ rows, strings });
  const problem = await expectProblem(refused, { status: 413, code: 'file_too_large' });
  expect(problem).toMatchObject({ bytes_max: BYTES_MAX });
  expect(problem.detail).toMatch(/1000000 bytes of text.*Split/);
  expect(await pipeline.objects()).toEqual([]);
});

test('workbooks are converted one at a time, and an account may have eight that wait', async () => {
  const converting: string[] = [];
  let letGo = () => {};
  const gate = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  let inFlight = 0;
  let inFlightMost = 0;
  pipeline.faults.putStream = async (key) => {
    if (!key.endsWith('-sheet')) return;
    converting.push(key);
    inFlight++;
    inFlightMost = Math.max(inFlightMost, inFlight);
    await gate;
    inFlight--;
  };
  const answers: Response[] = [];
  const sent = Array.from({ length: 10 }, () =>
    post({ rows: emails }).then((answer) => answers.push(answer)),
  );
  while (answers.length < 2 || converting.length === 0) await nextTurn();
  for (const answer of answers) {
    const problem = await expectProblem(answer, { status: 429, code: 'rate_limited' });
    expect(problem.detail).toMatch(/8 for workbooks/);
    expect(answer.headers.get('retry-after')).toBe('10');
  }
  expect(converting).toHaveLength(1);
  letGo();
  await Promise.all(sent);
  delete pipeline.faults.putStream;
  expect(answers.slice(2).map(({ status }) => status)).toEqual(Array(8).fill(202));
  expect(inFlightMost).toBe(1);
  expect(await pipeline.objects()).toHaveLength(8);
});

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

test('a workbook whose client has gone is not converted, and nothing of it is kept', async () => {
  const kept = await pipeline.objects();
  const converting: string[] = [];
  let letGo = () => {};
  const gate = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  pipeline.faults.putStream = async (key) => {
    if (!key.endsWith('-sheet')) return;
    converting.push(key);
    await gate;
  };
  const first = post({ rows: emails });
  while (converting.length === 0) await nextTurn();
  const gone = new AbortController();
  const second = post({ rows: emails }, gone.signal).catch(() => 'gone');
  // Both files are stored: the second waits for its turn.
  while ((await pipeline.objects()).length < kept.length + 2) await nextTurn();
  gone.abort();
  expect(await second).toBe('gone');
  while ((await pipeline.objects()).length > kept.length + 1) await nextTurn();
  letGo();
  expect((await first).status).toBe(202);
  delete pipeline.faults.putStream;
  expect(converting).toHaveLength(1);
  expect(await pipeline.objects()).toHaveLength(kept.length + 1);
});

test('a conversion ends when its client goes away, also where the sheet gives no rows', async () => {
  const kept = await pipeline.objects();
  const noise = `<!--${randomBytes(2_000_000).toString('hex')}-->`;
  const workbook = await zipOf(workbookParts({ rows: emails + noise }));
  const gone = new AbortController();
  const { store } = pipeline.context;
  let blocksAfter = 0;
  const watched: typeof store = {
    ...store,
    getStream(key, range) {
      async function* blocks() {
        for await (const bytes of store.getStream(key, range)) {
          for (let at = 0; at < bytes.length; at += 4096) {
            // The sheet alone is that long: its conversion has begun.
            if (gone.signal.aborted) blocksAfter++;
            else if (range !== undefined && at > 32_768) gone.abort(new Error('gone'));
            yield bytes.subarray(at, at + 4096);
          }
        }
      }
      return Readable.from(blocks());
    },
  };
  const { accountId } = caller;
  const context = { ...pipeline.context, store: watched, accountId, signal: gone.signal };
  const config = { ...pipeline.context.config, uploadBytesMax: 10_000_000 };
  const upload = await storeUpload({ ...context, config }, Readable.from([workbook]));
  const columns = {
    operation: 'people.enrich',
    mapping: null,
    match: 'exact',
    allowUnmapped: false,
  } as const;
  const regions = { defaultRegion: null, country: null };
  const read = readUpload({ ...context, config }, upload, { ...columns, ...regions }, {});
  await expect(read).rejects.toThrow('gone');
  await store.delete(upload.key);
  // A few are read ahead, of some 500.
  expect(blocksAfter).toBeLessThan(100);
  expect((await post({ rows: emails })).status).toBe(202);
  expect(await pipeline.objects()).toHaveLength(kept.length + 1);
});
