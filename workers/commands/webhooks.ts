/** `webhook create|list|enable|disable|rotate|delete|test|deliveries|replay`: events sent to an address. */
import { setTimeout } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Calls, Webhook, WebhookDelivery } from '../../src/client/api-types.ts';
import type { Client } from '../../src/client/client.ts';
import { unavailable } from '../../src/core/lib/errors.ts';
import { oneOf, wholeNumber } from '../arguments.ts';
import { readGlobals } from '../global-options.ts';
import { openClient } from '../open-client.ts';
import { printResult } from '../output.ts';
import { POLL_MS } from './follow.ts';

/** An attempt ends within 20 s, and begins at once where a worker runs. */
const TEST_MS_MAX = 30_000;

interface CreateOptions {
  events?: string;
  creditsLowThreshold?: number;
  disabled?: boolean;
}

export function addWebhookCommands(program: Command): void {
  const group = program.command('webhook').description('send events to your URL');
  addCreateCommand(group);
  addChangeCommands(group);
  addTestCommand(group);
  addDeliveryCommands(group);
}

function addCreateCommand(group: Command): void {
  group
    .command('create')
    .description('create a webhook and show its signing secret once')
    .argument('<url>', 'URL, such as https://example.com/hooks')
    .option('--events <list>', 'comma-separated event types, such as batch.completed; default: all')
    .option(
      '--credits-low-threshold <number>',
      'balance below which credits.low is sent',
      wholeNumber(1),
    )
    .option('--disabled', 'create it disabled; `webhook enable` enables it')
    .action(async (url: string, options: CreateOptions, command: Command) => {
      const { config, json } = readGlobals(command);
      const { events, creditsLowThreshold, disabled } = options;
      const made = await (await openClient(config)).createWebhook({
        url,
        events: events?.split(',').map((type) => type.trim()),
        credits_low_threshold: creditsLowThreshold,
        enabled: !disabled,
      });
      printResult(json, made, describeSecret(made));
    });
  group
    .command('list')
    .description('list all webhooks, newest first')
    .action(async (_options, command: Command) => {
      const { config, json } = readGlobals(command);
      const page = await (await openClient(config)).listWebhooks();
      const lines = page.data.map((webhook) =>
        [webhook.id, stateOf(webhook).padEnd(18), webhook.url].join('  '),
      );
      printResult(json, page, lines.length > 0 ? lines : ['No webhooks.']);
    });
}

function addChangeCommands(group: Command): void {
  for (const [action, enabled] of [
    ['enable', true],
    ['disable', false],
  ] as const) {
    group
      .command(action)
      .description(`${action} a webhook`)
      .argument('<id>', 'webhook id')
      .action(async (id: string, _options, command: Command) => {
        const { config, json } = readGlobals(command);
        const after = await (await openClient(config)).changeWebhook(id, { enabled });
        printResult(json, after, describeWebhook(after));
      });
  }
  group
    .command('rotate')
    .description('replace the signing secret; the old one stays valid for a while')
    .argument('<id>', 'webhook id')
    .option(
      '--overlap-seconds <number>',
      'seconds that the old secret stays valid; default: a day',
      wholeNumber(0),
    )
    .action(async (id: string, options: { overlapSeconds?: number }, command: Command) => {
      const { config, json } = readGlobals(command);
      const body = { overlap_seconds: options.overlapSeconds };
      const rotated = await (await openClient(config)).rotateWebhook(id, body);
      printResult(json, rotated, describeSecret(rotated));
    });
  group
    .command('delete')
    .description('delete a webhook and its deliveries')
    .argument('<id>', 'webhook id')
    .action(async (id: string, _options, command: Command) => {
      const { config, json } = readGlobals(command);
      await (await openClient(config)).deleteWebhook(id);
      printResult(json, { id, deleted: true }, [`Deleted webhook ${id}.`]);
    });
}

function addTestCommand(group: Command): void {
  group
    .command('test')
    .description('send a test event and show the outcome')
    .argument('<id>', 'webhook id')
    .action(async (id: string, _options, command: Command) => {
      const { config, json } = readGlobals(command);
      const client = await openClient(config);
      const ended = await untilEnded(client, id, (await client.testWebhook(id)).id);
      printResult(json, ended, [describeDelivery(ended)]);
      if (ended.state === 'failed') process.exitCode = 1;
    });
}

async function untilEnded(client: Client, id: string, deliveryId: string) {
  for (let waitedMs = 0; waitedMs < TEST_MS_MAX; waitedMs += POLL_MS) {
    const { data } = await client.listDeliveries(id);
    const delivery = data.find((one) => one.id === deliveryId);
    if (delivery !== undefined && delivery.state !== 'pending') return delivery;
    await setTimeout(POLL_MS);
  }
  throw unavailable(
    'unavailable',
    `Delivery ${deliveryId} has no outcome after ${TEST_MS_MAX / 1000} s. Check that a worker is running.`,
  );
}

function addDeliveryCommands(group: Command): void {
  group
    .command('deliveries')
    .description('list the latest deliveries and their outcomes')
    .argument('<id>', 'webhook id')
    .option(
      '--state <state>',
      'pending, delivered or failed; default: all',
      oneOf(['pending', 'delivered', 'failed']),
    )
    .action(async (id: string, options: { state?: string }, command: Command) => {
      const { config, json } = readGlobals(command);
      const page = await (await openClient(config)).listDeliveries(id, options.state);
      const lines = page.data.map(describeDelivery);
      printResult(json, page, lines.length > 0 ? lines : ['No deliveries.']);
    });
  group
    .command('replay')
    .description('send an event again, with the same webhook-id')
    .argument('<id>', 'webhook id')
    .argument('<delivery>', 'delivery id')
    .action(async (id: string, deliveryId: string, _options, command: Command) => {
      const { config, json } = readGlobals(command);
      const delivery = await (await openClient(config)).replayDelivery(id, deliveryId);
      printResult(json, delivery, [describeDelivery(delivery)]);
    });
}

function stateOf({ enabled, disabled_reason, failing_since }: Webhook): string {
  if (enabled) return failing_since === null ? 'enabled' : 'enabled, failing';
  return disabled_reason === null ? 'disabled' : `disabled (${disabled_reason})`;
}

function describeWebhook(webhook: Webhook): string[] {
  return [
    `Webhook    ${webhook.id} (${stateOf(webhook)})`,
    `Address    ${webhook.url}`,
    `Events     ${webhook.events.join(', ')}`,
  ];
}

function describeSecret(webhook: Calls['POST /v1/webhooks']['response']): string[] {
  return [
    ...describeWebhook(webhook),
    `Secret     ${webhook.secret}`,
    'Keep the secret: it is not shown again.',
  ];
}

function describeDelivery(delivery: WebhookDelivery): string {
  const { id, created_at, type, state, attempts, error, next_attempt_at } = delivery;
  const next = next_attempt_at === null ? '' : `, next ${next_attempt_at}`;
  const why = error === null ? '' : `  ${error}`;
  return `${id}  ${created_at}  ${type.padEnd(16)}  ${state} (${attempts} attempts${next})${why}`;
}
