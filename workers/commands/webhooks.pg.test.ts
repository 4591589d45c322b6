/** The commands about webhooks against the real API: what they send, print and say. */
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { scopes } from '../../src/core/keys/keys.ts';
import { openDeliverer } from '../../src/jobs/webhook/deliver/deliver-due.ts';
import { eventTypes } from '../../src/jobs/webhook/event-types.ts';
import {
  openWebhookFixture,
  verify,
  type WebhookFixture,
} from '../../src/jobs/webhook/webhooks.test-suite.ts';
import type { Caller } from '../../tests/support/pipeline.ts';
import { printedBy } from '../../tests/support/printed-by.ts';
import { withStatus } from '../../tests/support/webhook-receiver.ts';

let fixture: WebhookFixture;
let caller: Caller;
beforeAll(async () => {
  fixture = await openWebhookFixture();
  const { accountId } = await fixture.account(1);
  caller = await fixture.keyOf(accountId, 'live', [...scopes]);
  vi.stubEnv('ENRICH_URL', fixture.url);
  vi.stubEnv('ENRICH_API_KEY', caller.key);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await fixture.close();
});
afterEach(() => {
  process.exitCode = 0;
});

/** Runs a command while a worker delivers; returns what it printed on stdout. */
async function enrich(...words: string[]): Promise<string> {
  const deliverer = openDeliverer(fixture.context);
  try {
    return await printedBy(words, deliverer.wake);
  } finally {
    await deliverer.stop();
  }
}

test('a webhook is made, tested, listed, rotated, disabled, enabled and deleted', async () => {
  const made = await enrich(
    'webhook',
    'create',
    fixture.receiver.url,
    '--events',
    'batch.completed',
  );
  const id = /Webhook {4}(\S+) \(enabled\)/.exec(made)?.[1] ?? '';
  const secret = /Secret {5}(whsec_\S+)/.exec(made)?.[1] ?? '';
  expect(made).toContain('Events     batch.completed\n');
  expect(await enrich('webhook', 'test', id)).toMatch(/webhook\.test {6}delivered \(1 attempts\)/);
  verify(fixture.receiver.received.at(-1), secret);
  expect(await enrich('webhook', 'list')).toContain(`${id}  enabled`);
  const rotated = await enrich('webhook', 'rotate', id, '--overlap-seconds', '0');
  const newSecret = /Secret {5}(whsec_\S+)/.exec(rotated)?.[1] ?? '';
  await enrich('webhook', 'test', id);
  verify(fixture.receiver.received.at(-1), newSecret);
  expect(await enrich('webhook', 'disable', id)).toContain('(disabled)');
  await expect(enrich('webhook', 'test', id)).rejects.toThrow('Enable it first');
  expect(await enrich('webhook', 'enable', id)).toContain('(enabled)');
  expect(await enrich('webhook', 'delete', id)).toBe(`Deleted webhook ${id}.\n`);
  expect(await enrich('webhook', 'list')).toContain('No webhooks.');
});

test('a test that fails says why and ends with 1; its delivery is found and sent again', async () => {
  const made = JSON.parse(
    await enrich(
      '--json',
      'webhook',
      'create',
      fixture.receiver.url,
      '--credits-low-threshold',
      '5',
    ),
  );
  expect(made).toMatchObject({ events: eventTypes, credits_low_threshold: 5, enabled: true });
  const { id } = made as { id: string };
  expect(await enrich('webhook', 'deliveries', id)).toBe('No deliveries.\n');
  fixture.receiver.answers.push(withStatus(500));
  expect(await enrich('webhook', 'test', id)).toMatch(/failed \(1 attempts\) {2}responded 500/);
  expect(process.exitCode).toBe(1);
  const failed = await enrich('webhook', 'deliveries', id, '--state', 'failed');
  const [deliveryId = ''] = failed.split(' ');
  expect(await enrich('webhook', 'replay', id, deliveryId)).toContain('pending');
  await expect.poll(() => enrich('webhook', 'deliveries', id)).toContain('delivered (2 attempts)');
});

test('what cannot be is refused with what is wrong', async () => {
  await expect(enrich('webhook', 'create', 'https://10.0.0.1/')).rejects.toThrow('public');
  await expect(
    enrich('webhook', 'create', fixture.receiver.url, '--events', 'batch.done'),
  ).rejects.toThrow('events');
  await expect(enrich('webhook', 'deliveries', 'x', '--state', 'lost')).rejects.toThrow('one of');
});
