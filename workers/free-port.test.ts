import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { portOrAny } from './free-port.ts';

test('a port is kept while it is free, and left to the program that has it', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  expect(await portOrAny('127.0.0.1', port)).toBe(0);
  other.close();
  await once(other, 'close');
  expect(await portOrAny('127.0.0.1', port)).toBe(port);
  expect(await portOrAny('127.0.0.1', 0)).toBe(0);
});
