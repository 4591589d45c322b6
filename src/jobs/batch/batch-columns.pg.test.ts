import postgres from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { findBatch } from './batches.sql.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  caller = await pipeline.account(1);
});
afterAll(() => pipeline.close());

/**
 * Columns read only in queries over many batches: by `GET /admin/health`, dispatch, claims, scrub and audit.
 */
const unread = [
  ...['stateSince', 'traceParent', 'claimAfter', 'claimableAccount', 'storedBytes'],
  'storedBytesOpen',
  ...['objectsCheckedAt', 'objectsDamaged', 'objectMissingSince'],
  ...['rerunRows', 'rerunRecords'],
  ...['jobAfter', 'jobAttempts', 'jobLeaseUntil'],
];

test('every column of a batch is either read or listed as unread', async () => {
  const id = await pipeline.upload(caller, 'email\na@b.example\n', { operation: 'people.enrich' });
  const batch = await findBatch(pipeline.sql, id);
  const columns = await pipeline.sql<{ name: string }[]>`
    select column_name as name from information_schema.columns
    where table_schema = 'public' and table_name = 'batches'`;
  const names = columns.map(({ name }) => postgres.toCamel(name));
  // Read from the key of the batch.
  names.push('keyRowsPerMinute');
  expect([...Object.keys(batch ?? {}), ...unread].sort()).toEqual(names.sort());
});
