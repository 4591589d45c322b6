import { expect, test } from 'vitest';
import { scanRecords } from '../../formats/csv/record-scanner.ts';
import { readRows } from './read-rows.ts';

test.each([
  ['many rows', 'acme.example\n', 3000, 29],
  ['long cells', `${'例'.repeat(1900)}.example\n`, 300, 24],
])('a chunk of %s leaves the thread to others while it is read', async (_, row, count, least) => {
  let rounds = 0;
  let isReading = true;
  const onRound = () => {
    rounds++;
    if (isReading) setImmediate(onRound);
  };
  setImmediate(onRound);
  const piece = Buffer.from(row.repeat(count));
  const { rows } = await readRows(piece, scanRecords(piece, { delimiter: ',' }), {
    operation: 'companies.enrich',
    mapping: { domain: [{ column: 1, header: null, reason: 'chosen' }] },
    delimiter: ',',
    match: 'exact',
    defaultRegion: null,
    country: null,
    width: 1,
  });
  isReading = false;
  expect(rows).toHaveLength(count);
  expect(rounds).toBeGreaterThanOrEqual(least);
});
