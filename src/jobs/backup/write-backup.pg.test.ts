/** No backup is begun that could not be restored, and none fails for files whose time is over. */
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { openStore } from '../../core/context.ts';
import { describeStorage, type S3Config } from '../../core/storage-config.ts';
import { assertNewStore, markStore } from '../batch/own-store.ts';
import { writeBackup } from './write-backup.ts';

let source: Pipeline;
beforeAll(async () => {
  source = await openPipeline({});
  await markStore(source.context);
  const caller = await source.unmeteredAccount(100);
  await source.upload(caller, 'Email\np1@list.example\n', { operation: 'people.enrich' });
});
afterAll(() => source.close());

describe('no backup is begun', () => {
  const noBackup = (of: Pick<Pipeline['context'], 'sql' | 'store' | 'config'>) =>
    expect(writeBackup(of, null)).rejects;

  test('with the store of another installation, an empty one, or a bucket that does not exist', async () => {
    const { context } = source;
    const other = await openPipeline({}, 's3');
    const { store } = other.context;
    const mixed = { ...context, store };
    await noBackup(mixed).toMatchObject({
      code: 'another_store',
      message: expect.stringContaining('no object `installation`'),
    });
    await store.put('installation', [Buffer.from('another')]);
    await noBackup(mixed).toMatchObject({ code: 'another_store' });
    const storage = { ...(other.context.config.storage as S3Config), bucket: 'mistyped' };
    const config = { ...context.config, storage };
    await noBackup({ ...context, config, store: await openStore(storage) }).toMatchObject({
      code: 'store_unavailable',
      message: expect.stringMatching(
        /^The bucket mistyped at http:\S+ cannot be used\. .*\(NoSuchBucket\)\. Create the bucket, or correct S3_BUCKET/,
      ),
    });
    const unchecked = { sql: null, store: await openStore(storage) };
    await expect(assertNewStore(unchecked, describeStorage(storage))).rejects.toThrow(
      /^The bucket mistyped at http:\S+ cannot be used/,
    );
    await other.close();
  });

  test('of a database without an account', async () => {
    const empty = await openPipeline({});
    await noBackup(empty.context).toMatchObject({ code: 'not_found' });
    await empty.close();
  });
});

test('of a list whose files are no longer kept, one that cannot be deleted fails no backup', async () => {
  const { context, sql } = source;
  const caller = await source.unmeteredAccount(100);
  const id = await source.enrich(caller, 'Email\np1@list.example\n', {
    operation: 'people.enrich',
  });
  // As housekeeping leaves it: the others are deleted, and the database names all.
  await context.store.delete(`batches/${id}/upload`);
  const days = context.config.filesKeepDays;
  await sql`
    update batches set created_at = created_at - interval '1 year',
      finished_at = now() - make_interval(days => ${days}, secs => 60) where id = ${id}`;
  const { file, end } = await writeBackup(context, null);
  await buffer(file);
  expect(await end).toMatchObject({ missing: 1 });
});
