/** `account`, `credits`, `audit`. */
import type { Command } from 'commander';
import { createAccount } from '../../src/core/accounts/accounts.ts';
import { openContext } from '../../src/core/context.ts';
import { audit } from '../../src/core/credits/audit.ts';
import { grantCredits, refundCredits } from '../../src/core/credits/credits.ts';
import { auditParts } from '../../src/jobs/batch/audit/audit-parts.ts';
import { wholeNumber } from '../arguments.ts';
import { withDatabase } from '../find-stack.ts';
import { readGlobals } from '../global-options.ts';
import { printResult } from '../output.ts';

export function addAccountCommands(program: Command): void {
  addAccount(program);
  addCredits(program);
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
  const credits = program.command('credits').description('credits');
  credits
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
  credits
    .command('refund')
    .description('give back what was charged under a reference; once, and never more')
    .requiredOption('--account <id>', 'account id')
    .requiredOption('--reference <text>', 'reference of the charge, as the ledger has it')
    .option('--amount <number>', 'credits; all of the charge by default', wholeNumber(1))
    .action(
      async (
        options: { account: string; reference: string; amount?: number },
        command: Command,
      ) => {
        const { config, json } = readGlobals(command);
        const { account: accountId, ...refund } = options;
        const { balance, refunded } = await withDatabase(config, (sql) =>
          refundCredits(sql, { accountId, ...refund }),
        );
        printResult(json, { balance, refunded }, [
          `${refunded} credits given back; balance ${balance} credits`,
        ]);
      },
    );
}

function addAudit(program: Command): void {
  program
    .command('audit')
    .description('prove that wallets, ledger, reservations and batches agree; exit 1 if not')
    .option('--deep', 'also count again what stands in every stored result')
    .action(async ({ deep = false }: { deep?: boolean }, command: Command) => {
      const { config, json } = readGlobals(command);
      const result = await withDatabase(config, async (sql, url) => {
        const { checks } = await audit(sql);
        if (deep) {
          await using context = await openContext(config, url, 'cli');
          checks.push(...(await auditParts(context)));
        }
        return { ok: checks.every(({ violations }) => violations === 0), checks };
      });
      printResult(
        json,
        result,
        result.checks.map((check) => `${check.violations === 0 ? 'ok  ' : 'FAIL'} ${check.name}`),
      );
      if (!result.ok) process.exitCode = 1;
    });
}
