import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd, smallGraph } from '../../../tests/support/small-graph.ts';
import { must } from '../../core/lib/assert.ts';
import { workbookParts, zipOf } from '../../formats/xlsx/xlsx-fixtures.test-suite.ts';
import { audit } from '../audit/audit.ts';

/** The same service twice on the same graph: with objects as files in a folder, and on S3. */
interface Service {
  pipeline: Pipeline;
  caller: Caller;
}
let onFiles: Service;
let onS3: Service;
beforeAll(async () => {
  [onFiles, onS3] = await Promise.all([openService('files'), openService('s3')]);
});
afterAll(() => Promise.all([onFiles.pipeline.close(), onS3.pipeline.close()]));

async function openService(storage: 'files' | 's3'): Promise<Service> {
  const pipeline = await openPipeline({ CHUNK_ROWS: '7' }, storage);
  await importGraph(pipeline.sql, smallGraph);
  await importGraph(pipeline.sql, { persons: crowd(40) });
  return { pipeline, caller: await pipeline.account(500) };
}

const rows = Array.from({ length: 60 }, (_, n) => `"Row ${n}, say",p${n}@list.example,=1+${n}`);
const csv = `Ref,Work Email,Note\r\n${rows.join('\r\n')}\r\n`;
const western = Buffer.from(
  `Straße;Work Email\nGrün;ada@acme.example\n${'ü;x\n'.repeat(9)}`,
  'latin1',
);
const workbook = zipOf(
  workbookParts({
    rows: ['Work Email', 'p1@list.example', 'p2@list.example', 'nobody@list.example']
      .map((text) => `<row><c t="inlineStr"><is><t>${text}</t></is></c></row>`)
      .join(''),
  }),
);

const lists: [name: string, list: string | Promise<Buffer>][] = [
  ['plain', csv],
  ['zipped', Promise.resolve(gzipSync(csv))],
  ['in another encoding', Promise.resolve(western)],
  ['a workbook', workbook],
];

test.each(lists)(
  'a list, %s, comes back byte for byte the same from either store',
  async (_name, list) => {
    const outcome = async ({ pipeline, caller }: Service) => {
      const before = must(await pipeline.wallet(caller), 'wallet').balance;
      const options = { operation: 'people.enrich', fields: 'id,name,email' };
      const id = await pipeline.enrich(caller, await list, options);
      const { state, rows: counts } = await pipeline.batch(caller, id);
      const forms = ['csv', 'csv-safe', 'jsonl', 'xlsx', 'csv&gzip=true'];
      const results = await Promise.all(
        forms.map(async (form) => {
          const path = `/v1/batches/${id}/results?format=${form}`;
          const response = await pipeline.call(caller, path);
          expect(response.status).toBe(200);
          return Buffer.from(await response.arrayBuffer()).toString('base64');
        }),
      );
      const after = must(await pipeline.wallet(caller), 'wallet').balance;
      return { state, counts, results, charged: before - after };
    };
    const expected = await outcome(onFiles);
    expect(expected.state).toBe('completed');
    expect(expected.charged).toBeGreaterThan(0);
    expect(await outcome(onS3)).toEqual(expected);
  },
);

test('the audits of both pass', async () => {
  for (const { pipeline } of [onFiles, onS3]) {
    expect((await audit(pipeline.sql)).ok).toBe(true);
  }
});
