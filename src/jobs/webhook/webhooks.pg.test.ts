import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Owner } from '../../core/accounts/owner.ts';
import { inTransaction, type Sql } from '../../core/db/client.ts';
import { hostileUrls, resolveStub } from './hostile-urls.test-suite.ts';
import {
  type Hook,
  makeWebhook,
  openWebhookFixture,
  type WebhookFixture,
} from './webhooks.test-suite.ts';
import { changeWebhook } from './webhooks.ts';

let fixture: WebhookFixture;
let owner: Owner;
let hook: Hook;
beforeAll(async () => {
  fixture = await openWebhookFixture();
  const { accountId } = await fixture.account(1);
  owner = { accountId, live: true };
  hook = await fixture.hook(owner);
});
afterAll(() => fixture.close());

/** Rules without allowed hosts. */
const strict = () => ({
  sql: fixture.sql,
  config: { webhookAllowedHosts: [], webhookEncryptionKey: undefined },
});

const wanted = (url: string) => ({
  url,
  events: ['batch.completed' as const],
  creditsLowThreshold: 1,
  enabled: true,
});

test.each(hostileUrls)('%s is refused in a new webhook and in a change', async (url) => {
  const refused = { code: 'invalid_parameter', errors: [{ field: 'url' }] };
  const making = makeWebhook(strict(), owner, wanted(url), resolveStub);
  await expect(making).rejects.toMatchObject(refused);
  const changing = changeWebhook(strict(), owner, hook.id, { url }, resolveStub);
  await expect(changing).rejects.toMatchObject(refused);
  const saved = await fixture.sql<{ url: string }[]>`select url from webhooks`;
  expect(saved).toEqual([{ url: fixture.receiver.url }]);
});

test('the address is saved in canonical form', async () => {
  const text = ' HTTPS://PUBLIC.example:443/a/../hook?a=b#c';
  const { webhook } = await makeWebhook(strict(), owner, wanted(text), resolveStub);
  expect(webhook.url).toBe('https://public.example/hook?a=b');
});

test('events come in the order of the charges, whichever transaction began first', async () => {
  const { accountId } = await fixture.account(101);
  const low = await fixture.hook({ accountId }, { creditsLowThreshold: 100 });
  const leave = (sql: Sql, balance: number) =>
    sql`update wallets set balance = ${balance} where account_id = ${accountId}`;
  await inTransaction(fixture.sql, async (early) => {
    await early`select now()`;
    await leave(fixture.sql, 99);
    await leave(early, 0);
  });
  const types = (await fixture.deliveries(low)).map(({ type }) => type);
  expect(types).toEqual(['credits.low', 'credits.empty']);
});
