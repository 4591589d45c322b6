import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { readLookup } from './read-lookup.ts';

test('four lookups of an account are read at a time, and another account waits for none of them', () => {
  const read: string[] = [];
  const look = (accountId: string) =>
    readLookup(
      {
        context: {},
        key: { accountId, mode: 'test' },
        response: new ServerResponse(new IncomingMessage(new Socket())),
      } as unknown as Parameters<typeof readLookup>[0],
      () => {
        read.push(accountId);
        return new Promise(() => {});
      },
      // Those that still wait at the end are refused a minute later.
    ).catch(() => {});
  for (let call = 0; call < 6; call++) void look('many');
  void look('one');
  expect(read).toEqual(['many', 'many', 'many', 'many', 'one']);
});
