/** The sessions of calls that come at once are found in turns. */
import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { openLane } from '../lib/coalesce.ts';
import { openSessions, signIn } from './sessions.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline();
});
afterAll(() => pipeline.close());

const hashOf = (token: string | Buffer) => createHash('sha256').update(token).digest();

async function sessionOf({ key }: Caller): Promise<Buffer> {
  const origin = { network: '127.0.0.1', signal: new AbortController().signal };
  return hashOf(await signIn(pipeline.context, { key }, origin));
}

/** Looks up `before` a thousand times and then `last`; resolves with the number of those that were found before it. */
async function foundBefore(before: () => Buffer, last: Buffer): Promise<number> {
  // Of two rounds in flight the one that begins first may end last.
  const find = openSessions(pipeline.context.sql, openLane(1));
  await Promise.all([find(before()), find(last)]);
  const order: string[] = [];
  const look = async (hash: Buffer, name: string) => {
    await find(hash);
    order.push(name);
  };
  const flood = Array.from({ length: 1000 }, () => look(before(), 'one of them'));
  await Promise.all([...flood, look(last, 'last')]);
  expect(order).toHaveLength(1001);
  return order.indexOf('last');
}

test('a thousand calls of one session, or of made-up ones, do not make another one wait for all of them', async () => {
  const many = await sessionOf(await pipeline.unmeteredAccount(0));
  const one = await sessionOf(await pipeline.unmeteredAccount(0));
  expect(await foundBefore(() => many, one)).toBeLessThan(500);
  expect(await foundBefore(() => hashOf(randomBytes(32)), one)).toBeLessThan(500);
});

test('each call has its own session, and a made-up one none', async () => {
  const callers = [await pipeline.account(0), await pipeline.account(0)];
  const hashes = await Promise.all(callers.map(sessionOf));
  const find = openSessions(pipeline.context.sql);
  const found = await Promise.all([...hashes, hashOf('made up'), ...hashes].map(find));
  const owners = callers.map(({ accountId }) => accountId);
  expect(found.map((session) => session?.accountId)).toEqual([...owners, undefined, ...owners]);
});
