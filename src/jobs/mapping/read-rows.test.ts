import { expect, test } from 'vitest';
import { scanRecords } from '../../formats/csv/record-scanner.ts';
import { readRows } from './read-rows.ts';

test('a chunk leaves the thread to others while it is read', async () => {
  let rounds = 0;
  let isReading = true;
  const count = () => {
    rounds++;
    if (isReading) setImmediate(count);
  };
  setImmediate(count);
  const piece = Buffer.from('acme.example\n'.repeat(3000));
  const { rows } = await readRows(piece, scanRecords(piece, { delimiter: ',' }), {
    operation: 'companies.enrich',
    mapping: { domain: [{ column: 1, header: null, reason: 'chosen' }] },
    delimiter: ',',
    defaultRegion: null,
    country: null,
    width: 1,
  });
  isReading = false;
  expect(rows).toHaveLength(3000);
  expect(rounds).toBeGreaterThanOrEqual(30);
});
