/** `key`: API keys. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { resolveAccount } from '../../src/core/accounts/accounts.ts';
import type { Config } from '../../src/core/config.ts';
import { setCreditsPerDay } from '../../src/core/credits/key-budgets.sql.ts';
import { type Database, inTransaction } from '../../src/core/db/client.ts';
import { type AccountKey, listKeys } from '../../src/core/keys/account-keys.sql.ts';
import {
  findKeyByPrefixOrId,
  OVERLAP_SECONDS_DEFAULT,
  revokeKey,
  rollKey,
} from '../../src/core/keys/account-keys.ts';
import { displayPrefix, type KeyMode } from '../../src/core/keys/key-format.ts';
import { lockKeysOf } from '../../src/core/keys/keys.sql.ts';
import { createKey, type Scope, scopes } from '../../src/core/keys/keys.ts';
import { isUuid } from '../../src/core/lib/ids.ts';
import { createLog } from '../../src/core/log.ts';
import { listOf, oneOf, wholeNumber } from '../arguments.ts';
import { readGlobals } from '../global-options.ts';
import { countOf, printResult, say } from '../output.ts';
import { withDatabase } from '../with-database.ts';

/** More keys than any account keeps. */
const LISTED_MAX = 1000;

interface KeyOptions {
  account: string;
  mode: KeyMode;
  name?: string;
  scopes?: Scope[];
  requestsPerMinute?: number;
  requestsPerDay?: number;
  rowsPerMinute?: number;
  creditsPerDay?: number;
}

export function addKeyCommands(program: Command): void {
  const key = program.command('key').description('API keys');
  addCreate(key);
  addList(key);
  addBound(key);
  addRoll(key);
  addRevoke(key);
}

function addCreate(key: Command): void {
  key
    .command('create')
    .description('create a key and show it once')
    .requiredOption('--account <account>', 'id or email address of the account')
    .requiredOption('--mode <mode>', 'live or test', oneOf(['live', 'test']))
    .option('--name <name>', 'name of the key')
    .option('--scopes <list>', `comma-separated: ${scopes.join(',')}`, listOf(scopes))
    .option('--requests-per-minute <number>', 'requests per minute; default: 60', wholeNumber(1))
    .option('--requests-per-day <number>', 'requests per UTC day; default: 10000', wholeNumber(1))
    .option(
      '--rows-per-minute <number>',
      'rows of lists per minute; default: no limit',
      wholeNumber(1),
    )
    .option('--credits-per-day <number>', 'credits per UTC day; default: no limit', wholeNumber(1))
    .action(async (options: KeyOptions, command: Command) => {
      const { config, json } = readGlobals(command);
      const { account, ...rest } = options;
      const made = await withDatabase(config, async (sql) =>
        createKey(sql, { accountId: await resolveAccount(sql, account), ...rest }),
      );
      printResult(json, { key: made.key, prefix: made.prefix }, [made.key]);
      say('Save it: it is not shown again.');
    });
}

function addList(key: Command): void {
  key
    .command('list')
    .description('list the keys of an account, newest first')
    .requiredOption('--account <account>', 'id or email address of the account')
    .action(async (options: { account: string }, command: Command) => {
      const { config, json } = readGlobals(command);
      const keys = await withDatabase(config, async (sql) =>
        listKeys(
          sql,
          { accountId: await resolveAccount(sql, options.account), mode: null },
          { before: null, limit: LISTED_MAX },
        ),
      );
      printResult(json, { keys }, keys.map(describeKey));
    });
}

function describeKey(key: AccountKey): string {
  const used = key.lastUsedAt === null ? 'never used' : `used ${key.lastUsedAt.toISOString()}`;
  return [`${key.prefix}...`, key.name ?? '-', key.scopes.join(','), stateOf(key), used].join('  ');
}

/** A revoked key has ended, also one that was to expire later. */
function stateOf({ revokedAt, expiresAt }: AccountKey): string {
  if (revokedAt !== null) return `revoked ${revokedAt.toISOString()}`;
  if (expiresAt === null) return 'valid';
  return `${expiresAt.getTime() <= Date.now() ? 'expired' : 'ends'} ${expiresAt.toISOString()}`;
}

/**
 * Returns the display prefix of a key that is given by its prefix, with or without the dots of `key list`, or as a whole. An
 * id is returned as it is.
 */
function prefixOrIdOf(text: string): string {
  if (isUuid(text)) return text;
  if (/^svc_(live|test)_([0-9A-Za-z]{4}(\.\.\.|…)?|[0-9A-Za-z]{36})$/.test(text))
    return displayPrefix(text);
  throw new InvalidArgumentError(
    'It must be the key, its id, or its prefix as `enrich key list` prints it, such as svc_live_ABCD.',
  );
}

function addBound(key: Command): void {
  key
    .command('bound')
    .description(
      'change the daily credits of a key; its waiting lists and exports resume automatically',
    )
    .argument('<prefix>', 'its display prefix, its id, or the key itself', prefixOrIdOf)
    .addOption(
      new Option('--credits-per-day <number>', 'credits per UTC day')
        .argParser(wholeNumber(1))
        .conflicts('unbounded'),
    )
    .option('--unbounded', 'remove the daily limit')
    .action(
      async (
        prefixOrId: string,
        options: { creditsPerDay?: number; unbounded?: boolean },
        command: Command,
      ) => {
        const { config, json } = readGlobals(command);
        const { creditsPerDay = null, unbounded = false } = options;
        if (creditsPerDay === null && !unbounded) {
          command.error('Use --credits-per-day NUMBER or --unbounded.', { exitCode: 2 });
        }
        const prefix = await withDatabase(config, async (sql) => {
          const { id, accountId, prefix } = await findKeyByPrefixOrId(sql, prefixOrId);
          await inTransaction(sql, async (tx) => {
            // A key that this one is just making is bound as well.
            await lockKeysOf(tx, accountId);
            await setCreditsPerDay(tx, id, creditsPerDay);
          });
          return prefix;
        });
        printResult(json, { prefix, credits_per_day: creditsPerDay }, [
          `${prefix}... may spend ${creditsPerDay ?? 'unlimited'} credits per day`,
        ]);
      },
    );
}

function addRoll(key: Command): void {
  key
    .command('roll')
    .description('replace a key with one of the same settings; the old one stays valid for a while')
    .argument('<prefix>', 'its display prefix, its id, or the key itself', prefixOrIdOf)
    .option(
      '--overlap-seconds <number>',
      'seconds that the old key stays valid',
      wholeNumber(0),
      OVERLAP_SECONDS_DEFAULT,
    )
    .action(async (prefixOrId: string, options: { overlapSeconds: number }, command: Command) => {
      const { config, json } = readGlobals(command);
      const { made, replaced } = await withDatabase(config, async (sql) => {
        const { id, accountId } = await findKeyByPrefixOrId(sql, prefixOrId);
        const roll = { id, ...options, countsOn: false };
        return inTransaction(sql, (tx) => rollKey(tx, { accountId, mode: null }, roll));
      });
      const shown = { key: made.key, prefix: made.prefix, replaced_ends: replaced.expiresAt };
      printResult(json, shown, [made.key]);
      say(
        `Save it: it is not shown again. ${replaced.prefix}... ends ${replaced.expiresAt?.toISOString()}.`,
      );
    });
}

function addRevoke(key: Command): void {
  key
    .command('revoke')
    .description('revoke a key')
    .argument('<prefix>', 'its display prefix, its id, or the key itself', prefixOrIdOf)
    .option('--cancel', 'also cancel its lists and exports')
    .action(async (prefixOrId: string, options: { cancel?: boolean }, command: Command) => {
      const { config, json } = readGlobals(command);
      const cancelled = await withDatabase(config, async (sql, url) => {
        const id = await revokeKey(sql, prefixOrId);
        return options.cancel ? await cancelOf(config, sql, url, id) : [];
      });
      printResult(json, { revoked: 1, cancelled_batches: cancelled }, [
        'Revoked 1 key.',
        ...(options.cancel ? [`Cancelled ${countOf(cancelled.length, 'batch', 'batches')}.`] : []),
        ...cancelled,
      ]);
    });
}

async function cancelOf(
  config: Config,
  sql: Database,
  databaseUrl: string,
  keyId: string,
): Promise<string[]> {
  const log = createLog('warn', 'key revoke');
  // Loading these takes longer than the other commands of keys take to run.
  const { withQueues } = await import('../with-queues.ts');
  const { cancelKeyBatches } = await import('../../src/jobs/batch/cancel-key-batches.ts');
  return withQueues(config, databaseUrl, log, (queues) =>
    cancelKeyBatches({ sql, queues, config, log }, keyId),
  );
}
