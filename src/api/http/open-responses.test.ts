/** Responses that are open for long are shared among accounts. */
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Response } from 'express';
import { expect, test } from 'vitest';
import { limitOpenResponses } from './open-responses.ts';

const open = () => new ServerResponse(new IncomingMessage(new Socket())) as Response;

test('an account has as many as the process has left, and all together no more than the process may', () => {
  const hold = limitOpenResponses('uploads', 12, 24);
  const held: Response[] = [];
  /** Opens as many as the account may; returns their number and the refusal. */
  const fill = (accountId: string) => {
    for (let count = 0; ; count++) {
      const response = open();
      try {
        hold(accountId, response);
      } catch (refusal) {
        return { count, refusal };
      }
      held.push(response);
    }
  };
  const refusal = { status: 429, code: 'rate_limited' };
  expect(fill('a')).toMatchObject({
    count: 12,
    refusal: { ...refusal, extensions: { quota: 12 } },
  });
  expect(fill('b')).toMatchObject({ count: 6, refusal: { ...refusal, extensions: { quota: 6 } } });
  const others = Array.from({ length: 10 }, (_, n) => fill(`other ${n}`).count);
  expect(others).toEqual([3, 2, 1, 0, 0, 0, 0, 0, 0, 0]);
  expect(held).toHaveLength(24);
  expect(fill('c').refusal).toMatchObject({ ...refusal, extensions: { quota: 24 } });
  for (const response of held) response.emit('close');
  expect(fill('c').count).toBe(12);
});
