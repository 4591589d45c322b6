/** `account`, `credits`. */
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { listAccounts } from '../../src/core/accounts/accounts.sql.ts';
import { createAccount, resolveAccount } from '../../src/core/accounts/accounts.ts';
import { generatePassword } from '../../src/core/accounts/password.ts';
import { grantCredits, refundCredits } from '../../src/core/credits/credits.ts';
import { changeOwnedDays } from '../../src/core/credits/owned.ts';
import { changePassword } from '../../src/core/sessions/sessions.ts';
import { wholeNumber } from '../arguments.ts';
import { readGlobals } from '../global-options.ts';
import { countOf, printResult } from '../output.ts';
import { withDatabase } from '../with-database.ts';

export function addAccountCommands(program: Command): void {
  addAccount(program);
  addCredits(program);
}

interface NewAccountOptions {
  name: string;
  email?: string;
  credits: number;
  ownedDays: number;
  signIn?: true;
  passwordStdin?: true;
}

function addAccount(program: Command): void {
  const account = program.command('account').description('accounts');
  addCreate(account);
  addList(account);
  addSet(account);
  addPassword(account);
}

function addCreate(account: Command): void {
  account
    .command('create')
    .description('create an account with its wallet')
    .requiredOption('--name <name>', 'name of the team')
    .option('--email <address>', 'contact address, also used to sign in')
    .requiredOption('--credits <number>', 'initial credits', wholeNumber(0))
    .option(...ownedDaysOption, 0)
    .option('--sign-in', 'enable sign-in with a generated password, shown once')
    .option('--password-stdin', 'enable sign-in with a password read from stdin')
    .action(async (options: NewAccountOptions, command: Command) => {
      const { config, json } = readGlobals(command);
      const { signIn: isWanted, passwordStdin = false, ...rest } = options;
      const { password, shown } =
        isWanted || passwordStdin ? await choosePassword(passwordStdin) : noPassword;
      const input = { ...rest, ...(password === undefined ? {} : { password }) };
      const accountId = await withDatabase(config, (sql) => createAccount(sql, input));
      printResult(json, { account_id: accountId, ...shown }, [
        `Account ${accountId}`,
        ...describePassword(shown),
      ]);
    });
}

function addList(account: Command): void {
  account
    .command('list')
    .description('list all accounts, oldest first')
    .action(async (_options, command: Command) => {
      const { config, json } = readGlobals(command);
      const accounts = await withDatabase(config, listAccounts);
      const lines = accounts.map(({ id, name, email, credits }) =>
        [id, countOf(credits, 'credit').padEnd(16), email ?? '-', name].join('  '),
      );
      const listed = accounts.map((one) => ({
        ...{ account_id: one.id, name: one.name, email: one.email, can_sign_in: one.hasPassword },
        ...{ credits: one.credits, owned_days: one.ownedDays },
        created_at: one.createdAt.toISOString(),
      }));
      printResult(json, { accounts: listed }, lines.length > 0 ? lines : ['No accounts yet.']);
    });
}

function addSet(account: Command): void {
  account
    .command('set')
    .description('change the options of the account')
    .requiredOption('--account <account>', 'id or email address of the account')
    .requiredOption(...ownedDaysOption)
    .action(async (options: { account: string; ownedDays: number }, command: Command) => {
      const { config, json } = readGlobals(command);
      const { account, ownedDays } = options;
      const accountId = await withDatabase(config, async (sql) => {
        const id = await resolveAccount(sql, account);
        await changeOwnedDays(sql, id, ownedDays);
        return id;
      });
      printResult(json, { account_id: accountId, owned_days: ownedDays }, [
        ownedDays === 0
          ? 'Each delivery of a person is charged.'
          : `A person who was paid for in the last ${ownedDays} days is not charged again.`,
      ]);
    });
}

function addPassword(account: Command): void {
  account
    .command('password')
    .description('set the password of the account and end its sessions')
    .requiredOption('--account <account>', 'id or email address of the account')
    .option('--email <address>', 'address to sign in with; default: the current one')
    .option(
      '--password-stdin',
      'read the password from stdin; default: generate one and show it once',
    )
    .action(async (options: PasswordOptions, command: Command) => {
      const { config, json } = readGlobals(command);
      const { account, passwordStdin = false, ...rest } = options;
      const { password, shown } = await choosePassword(passwordStdin);
      const { accountId, email } = await withDatabase(config, async (sql) => {
        const id = await resolveAccount(sql, account);
        return {
          accountId: id,
          ...(await changePassword(sql, { accountId: id, password, ...rest })),
        };
      });
      printResult(json, { account_id: accountId, email, ...shown }, [
        `Sign in with ${email}.`,
        ...describePassword(shown),
      ]);
    });
}

const ownedDaysOption = [
  '--owned-days <days>',
  'days for which a person who was paid for is not charged again; 0: every delivery is charged',
  wholeNumber(0),
] as const;

interface PasswordOptions {
  account: string;
  email?: string;
  passwordStdin?: true;
}

/** A password, and what is shown of it: all of one that was made here. */
interface ChosenPassword {
  password: string;
  shown: { password?: string };
}

const noPassword: Partial<ChosenPassword> & Pick<ChosenPassword, 'shown'> = { shown: {} };

/** Never an argument: other users of the machine can read those. */
async function choosePassword(isOnStdin: boolean): Promise<ChosenPassword> {
  if (isOnStdin) return { password: (await text(process.stdin)).replace(/\r?\n$/, ''), shown: {} };
  const password = generatePassword();
  return { password, shown: { password } };
}

function describePassword({ password }: ChosenPassword['shown']): string[] {
  return password === undefined ? [] : [`Password ${password}`, 'Save it: it is not shown again.'];
}

function addCredits(program: Command): void {
  const credits = program.command('credits').description('credits');
  credits
    .command('grant')
    .description('add credits to a wallet, once per reference')
    .requiredOption('--account <account>', 'id or email address of the account')
    .requiredOption('--amount <number>', 'credits', wholeNumber(1))
    .requiredOption('--reference <text>', 'purpose of the grant, such as an invoice number')
    .action(
      async (options: { account: string; amount: number; reference: string }, command: Command) => {
        const { config, json } = readGlobals(command);
        const { account, amount, reference } = options;
        const { balance, granted } = await withDatabase(config, async (sql) =>
          grantCredits(sql, { accountId: await resolveAccount(sql, account), amount, reference }),
        );
        const before = granted
          ? ''
          : `Granted before under the reference ${reference}: nothing was added. `;
        printResult(json, { balance, granted }, [`${before}Balance ${countOf(balance, 'credit')}`]);
      },
    );
  credits
    .command('refund')
    .description('refund a charge by its reference, once and at most in full')
    .requiredOption('--account <account>', 'id or email address of the account')
    .requiredOption('--reference <text>', 'reference of the charge in the ledger')
    .option('--amount <number>', 'credits; default: the whole charge', wholeNumber(1))
    .action(
      async (
        options: { account: string; reference: string; amount?: number },
        command: Command,
      ) => {
        const { config, json } = readGlobals(command);
        const { account, ...refund } = options;
        const { balance, refunded } = await withDatabase(config, async (sql) =>
          refundCredits(sql, { accountId: await resolveAccount(sql, account), ...refund }),
        );
        printResult(json, { balance, refunded }, [
          `Refunded ${countOf(refunded, 'credit')}. Balance ${countOf(balance, 'credit')}`,
        ]);
      },
    );
}
