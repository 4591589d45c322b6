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

test('a calling code reads phones, and is a country when one alone has it', async () => {
  const piece = Buffer.from(
    '020 7946 0958,+44\n030 123456,+49\n(603) 271-2711,+1\n020 7946 0958,+0\n',
  );
  const column = (number: number) => [{ column: number, header: null, reason: 'chosen' as const }];
  const { rows, namesOf } = await readRows(piece, scanRecords(piece, { delimiter: ',' }), {
    operation: 'companies.enrich',
    mapping: { phone: column(1), country: column(2) },
    delimiter: ',',
    match: 'exact',
    defaultRegion: null,
    country: null,
    width: 2,
  });
  expect(rows.map(({ identifiers, invalid }) => identifiers[0]?.values ?? invalid)).toEqual([
    ['+442079460958'],
    ['+4930123456'],
    ['+16032712711'],
    'phone_without_country',
  ]);
  expect(rows.map((_, index) => namesOf(index).country)).toEqual([null, 'DE', null, null]);
});
