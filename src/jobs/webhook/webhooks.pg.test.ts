import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Owner } from '../../core/accounts/owner.ts';
import { hostileUrls, resolveStub } from './hostile-urls.test-suite.ts';
import { type Hook, type Hooked, openHooked } from './webhooks.test-suite.ts';
import { changeWebhook, createWebhook } from './webhooks.ts';

let hooked: Hooked;
let owner: Owner;
let hook: Hook;
beforeAll(async () => {
  hooked = await openHooked();
  const { accountId } = await hooked.account(1);
  owner = { accountId, live: true };
  hook = await hooked.hook(owner);
});
afterAll(() => hooked.close());

/** The rules of a service that allows nothing in particular. */
const strict = () => ({
  sql: hooked.sql,
  config: { webhookAllowedHosts: [], webhookEncryptionKey: undefined },
});

const wanted = (url: string) => ({
  url,
  events: ['batch.completed' as const],
  creditsLowThreshold: 1,
  enabled: true,
});

test.each(hostileUrls)('%s is saved neither in a new webhook nor in a change', async (url) => {
  const refused = { code: 'invalid_parameter', errors: [{ field: 'url' }] };
  const making = createWebhook(strict(), owner, wanted(url), undefined, resolveStub);
  await expect(making).rejects.toMatchObject(refused);
  const changing = changeWebhook(strict(), owner, hook.id, { url }, resolveStub);
  await expect(changing).rejects.toMatchObject(refused);
  const saved = await hooked.sql<{ url: string }[]>`select url from webhooks`;
  expect(saved).toEqual([{ url: hooked.receiver.url }]);
});

test('what is saved is the address as it was understood', async () => {
  const text = ' HTTPS://PUBLIC.example:443/a/../hook?a=b#c';
  const { webhook } = await createWebhook(strict(), owner, wanted(text), undefined, resolveStub);
  expect(webhook.url).toBe('https://public.example/hook?a=b');
});
