/** Separate from the scanner's other tests, because it takes as long as all of them. */
import { expect, it } from 'vitest';
import { RecordScanner, scanRecords } from './record-scanner.ts';

// A scanner that looks ahead again from each line takes minutes here: 128 KiB for each.
it.each(['a","b\n', '"\n', ',"\n', '"x\n', '"x\n\n'])('is linear in a file of lines %j', (line) => {
  const bytes = Buffer.alloc(6_000_000, line);
  const records = scanRecords(bytes, { delimiter: ',' });
  const newlines = bytes.toString('latin1').split('\n').length - 1;
  expect(records.nextLine - 1).toBe(newlines);
  const scanner = new RecordScanner({ delimiter: ',' });
  let count = 0;
  for (let from = 0; from < bytes.length; from += 65_536) {
    count += scanner.push(bytes.subarray(from, from + 65_536))?.records.count ?? 0;
  }
  expect(count + scanner.finish().records.count).toBe(records.count);
});
