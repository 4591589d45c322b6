import { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { Request } from 'express';
import { expect, test, vi } from 'vitest';
import { must } from '../../core/lib/assert.ts';
import { readBody } from './read-json.ts';

const BYTES = 100_000;

test('a body that arrives byte by byte is held in few pieces', async () => {
  const source = function* () {
    for (let n = 0; n < BYTES; n++) yield Buffer.from(n % 2 === 0 ? 'a' : 'b');
  };
  const body = Object.assign(Readable.from(source()), { ip: '127.0.0.1' });
  const res = Object.assign(new ServerResponse(body as never), { locals: {} });
  const joining = vi.spyOn(Buffer, 'concat');
  const text = await readBody(Object.assign(body, { res }) as never as Request, BYTES);
  expect(text).toBe('ab'.repeat(BYTES / 2));
  const [pieces] = must(joining.mock.lastCall, 'the last time that pieces are joined');
  expect(pieces.length).toBeLessThan(1_000);
});
