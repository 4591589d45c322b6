import { expect, it } from 'vitest';
import { scanRecords } from './record-scanner.ts';

it('returns each of its records and refuses any other index', () => {
  const records = scanRecords(Buffer.from('a\nb,c\n'), { delimiter: ',' });
  expect([records.at(0), records.at(1)]).toMatchObject([
    { start: 0, end: 1, line: 1, fields: 1 },
    { start: 2, end: 5, line: 2, fields: 2 },
  ]);
  // The columns are longer than their content.
  for (const index of [-1, 2, 63, 1e9, Number.NaN]) {
    expect(() => records.at(index)).toThrow(new RangeError(`no record ${index}`));
  }
});
