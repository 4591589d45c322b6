import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { expect, test } from 'vitest';
import { writeReject } from './write-reject.ts';

test('a rejected row is not waited for when its output has failed before', async () => {
  const full = new Error('no space left on device');
  const output = new Writable({ write: (_line, _encoding, done) => done(full) });
  output.write('an earlier row');
  await expect(finished(output)).rejects.toBe(full);
  const row = { line: 2, reason: 'invalid', field: null, record: {} };
  await expect(writeReject(output, row)).rejects.toBe(full);
});
