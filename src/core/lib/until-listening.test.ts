import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { untilListening } from './until-listening.ts';

test('a port that another program has is refused with the message that names the option', async () => {
  const [first, second] = [createServer(), createServer()];
  try {
    await untilListening(first.listen(0, '127.0.0.1'), 'PORT: set another.');
    const { port } = first.address() as AddressInfo;
    await expect(
      untilListening(second.listen(port, '127.0.0.1'), 'PORT: set another.'),
    ).rejects.toMatchObject({ code: 'port_in_use', message: 'PORT: set another.' });
  } finally {
    first.close();
  }
});
