/** `account`, `credits`, `key`, `suppress`, `audit`. */
import type { Command } from 'commander';
import { createAccount } from '../../src/core/accounts/accounts.ts';
import { audit } from '../../src/core/credits/audit.ts';
import { grantCredits } from '../../src/core/credits/credits.ts';
import type { KeyMode } from '../../src/core/keys/key-format.ts';
import { createKey, revokeKey, type Scope, scopes } from '../../src/core/keys/keys.ts';
import { suppress } from '../../src/core/suppression/suppress.ts';
import { listOf, oneOf, wholeNumber } from '../arguments.ts';
import { withDatabase } from '../find-stack.ts';
import { readGlobals } from '../global-options.ts';
import { printResult } from '../output.ts';

export function addAccountCommands(program: Command): void {
  addAccount(program);
  addCredits(program);
  addKeys(program);
  addSuppress(program);
  addAudit(program);
}

function addAccount(program: Command): void {
  program
    .command('account')
    .description('accounts')
    .command('create')
    .description('make an account with its wallet')
    .requiredOption('--name <name>', 'name of the team')
    .option('--email <address>', 'where to reach it')
    .requiredOption('--credits <number>', 'first credits', wholeNumber(0))
    .action(
      async (options: { name: string; email?: string; credits: number }, command: Command) => {
        const { config, json } = readGlobals(command);
        const accountId = await withDatabase(config, (sql) => createAccount(sql, options));
        printResult(json, { account_id: accountId }, [`Account ${accountId}`]);
      },
    );
}

function addCredits(program: Command): void {
  program
    .command('credits')
    .description('credits')
    .command('grant')
    .description('add credits to a wallet; the same reference adds them once')
    .requiredOption('--account <id>', 'account id')
    .requiredOption('--amount <number>', 'credits', wholeNumber(1))
    .requiredOption('--reference <text>', 'what the grant is for, such as an invoice number')
    .action(
      async (options: { account: string; amount: number; reference: string }, command: Command) => {
        const { config, json } = readGlobals(command);
        const { account: accountId, amount, reference } = options;
        const balance = await withDatabase(config, (sql) =>
          grantCredits(sql, { accountId, amount, reference }),
        );
        printResult(json, { balance }, [`Balance ${balance} credits`]);
      },
    );
}

interface KeyOptions {
  account: string;
  mode: KeyMode;
  scopes?: Scope[];
  requestsPerMinute?: number;
  requestsPerDay?: number;
  rowsPerMinute?: number;
}

function addKeys(program: Command): void {
  const key = program.command('key').description('API keys');
  key
    .command('create')
    .description('make a key; it is shown once')
    .requiredOption('--account <id>', 'account id')
    .requiredOption('--mode <mode>', 'live or test', oneOf(['live', 'test']))
    .option('--scopes <list>', `of ${scopes.join(',')}`, listOf(scopes))
    .option('--requests-per-minute <number>', 'default 60', wholeNumber(1))
    .option('--requests-per-day <number>', 'default 10000', wholeNumber(1))
    .option('--rows-per-minute <number>', 'rows of lists; no limit by default', wholeNumber(1))
    .action(async (options: KeyOptions, command: Command) => {
      const { config, json } = readGlobals(command);
      const { account: accountId, ...rest } = options;
      const made = await withDatabase(config, (sql) => createKey(sql, { accountId, ...rest }));
      printResult(json, { key: made.key, prefix: made.prefix }, [
        made.key,
        'Keep it: it cannot be shown again.',
      ]);
    });
  key
    .command('revoke')
    .description('revoke a key')
    .argument('<prefix>', 'its display prefix')
    .action(async (prefix: string, _options, command: Command) => {
      const { config, json } = readGlobals(command);
      const revoked = await withDatabase(config, (sql) => revokeKey(sql, prefix));
      printResult(json, { revoked: revoked.length }, [`Revoked ${revoked.length} key(s)`]);
    });
}

function addSuppress(program: Command): void {
  program
    .command('suppress')
    .description('never serve the person again who has this e-mail, phone, profile or handle')
    .argument('<identifier>', 'as the person gave it')
    .action(async (identifier: string, _options, command: Command) => {
      const { config, json } = readGlobals(command);
      const result = await withDatabase(config, (sql) => suppress(sql, identifier));
      printResult(json, result, [`${result.persons} stored record(s) suppressed`]);
    });
}

function addAudit(program: Command): void {
  program
    .command('audit')
    .description('prove that wallets, ledger, reservations and batches agree; exit 1 if not')
    .action(async (_options, command: Command) => {
      const { config, json } = readGlobals(command);
      const result = await withDatabase(config, audit);
      printResult(
        json,
        result,
        result.checks.map((check) => `${check.violations === 0 ? 'ok  ' : 'FAIL'} ${check.name}`),
      );
      if (!result.ok) process.exitCode = 1;
    });
}
