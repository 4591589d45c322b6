import { expect, test } from 'vitest';
import { readConfig } from '../src/core/config.ts';
import { generateKey } from '../src/core/keys/key-format.ts';
import { openClient } from './open-client.ts';

const open = (key?: string) =>
  openClient(readConfig({ ENRICH_URL: 'http://127.0.0.1:9', ENRICH_API_KEY: key }));

test('a key with something added is refused, and not repeated', async () => {
  const key = generateKey('live');
  await expect(open(key)).resolves.toBeDefined();
  for (const text of [`${key}\nKeep it`, `${key} `, key.slice(1), 'x']) {
    const error = await open(text).catch((thrown: Error) => thrown);
    expect(error).toMatchObject({
      code: 'invalid_key',
      message: expect.stringMatching(/not a key/),
    });
    expect(String(error)).not.toContain(key.slice(4));
  }
  await expect(open()).rejects.toMatchObject({ code: 'usage' });
});
