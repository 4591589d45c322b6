/** `account`, `credits`, `audit`. */
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { listAccounts } from '../../src/core/accounts/accounts.sql.ts';
import { createAccount, resolveAccount } from '../../src/core/accounts/accounts.ts';
import { generatePassword } from '../../src/core/accounts/password.ts';
import { openContext } from '../../src/core/context.ts';
import { grantCredits, refundCredits } from '../../src/core/credits/credits.ts';
import { changeOwnedDays } from '../../src/core/credits/owned.ts';
import { changePassword } from '../../src/core/sessions/sessions.ts';
import { describeStorage } from '../../src/core/storage-config.ts';
import { audit } from '../../src/jobs/audit/audit.ts';
import { auditLog, type LogAudit } from '../../src/jobs/audit/audit-log.ts';
import {
  auditParts,
  type BrokenObject,
  type PartsAudit,
} from '../../src/jobs/audit/audit-parts.ts';
import { requireOwnStore } from '../../src/jobs/batch/own-store.ts';
import { insertAudit } from '../../src/jobs/monitor/monitor.sql.ts';
import { wholeNumber } from '../arguments.ts';
import { readGlobals } from '../global-options.ts';
import { countOf, printResult } from '../output.ts';
import { readLogs } from '../read-logs.ts';
import { withDatabase } from '../with-database.ts';

export function addAccountCommands(program: Command): void {
  addAccount(program);
  addCredits(program);
  addAudit(program);
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
    .requiredOption('--account <account>', 'id or e-mail address of the account')
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
    .requiredOption('--account <account>', 'id or e-mail address of the account')
    .option('--email <address>', 'address to sign in with; default: the present one')
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
  return password === undefined ? [] : [`Password ${password}`, 'Keep it: it is not shown again.'];
}

function addCredits(program: Command): void {
  const credits = program.command('credits').description('credits');
  credits
    .command('grant')
    .description('add credits to a wallet, once per reference')
    .requiredOption('--account <account>', 'id or e-mail address of the account')
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
    .requiredOption('--account <account>', 'id or e-mail address of the account')
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

function addAudit(program: Command): void {
  program
    .command('audit')
    .description('check that wallets, ledger, reservations and batches agree; exit 1 if not')
    .option('--deep', 'also read every stored object and recount the rows of every result')
    .option(
      '--log <file...>',
      'also name what answers in logs of the API, gzipped or not, promised and the database lacks: lists, charges, actions; and changes of settings',
    )
    .action(async ({ deep = false, log }: { deep?: boolean; log?: string[] }, command: Command) => {
      const { config, json } = readGlobals(command);
      const result = await withDatabase(config, async (sql, url) => {
        await using context = deep ? await openContext(config, url, 'cli') : null;
        // In a wrong store everything is missing: that would be a failed audit of the database.
        if (context !== null) await requireOwnStore(context, describeStorage(config.storage));
        const { checks } = await audit(sql);
        const forgotten = log === undefined ? undefined : await auditLog(sql, readLogs(log));
        let objects: PartsAudit['objects'] | undefined;
        if (context !== null) {
          const parts = await auditParts(context);
          checks.push(...parts.checks);
          objects = parts.objects;
        }
        const failed = checks.filter(({ violations }) => violations > 0);
        const violations = failed.reduce((sum, check) => sum + check.violations, 0);
        await insertAudit(sql, { deep, violations, failed: failed.map(({ name }) => name) });
        const isComplete = forgotten === undefined || isKept(forgotten);
        return { ok: failed.length === 0 && isComplete, checks, objects, log: forgotten };
      });
      printResult(json, result, [
        ...result.checks.map(({ name, violations }) =>
          violations === 0 ? `ok   ${name}` : `FAIL ${name}: ${countOf(violations, 'violation')}`,
        ),
        ...(result.objects === undefined ? [] : describeObjects(result.objects)),
        ...(result.log === undefined ? [] : describeForgotten(result.log)),
      ]);
      if (!result.ok) process.exitCode = 1;
    });
}

function describeObjects({ checked, missing, damaged }: PartsAudit['objects']): string[] {
  const name = (how: string) => (one: BrokenObject) =>
    `     ${how}: ${one.object} of ${one.kind} ${one.batch_id}`;
  return [
    `${checked} stored objects read.`,
    ...missing.map(name('missing')),
    ...damaged.map(name('damaged')),
  ];
}

function isKept({ logged, lists, charges, actions }: LogAudit): boolean {
  return logged > 0 && lists.length + charges.length + actions.length === 0;
}

function describeForgotten(result: LogAudit): string[] {
  const { logged, requests, lists, charges, actions, changes } = result;
  if (logged === 0) {
    return [
      'FAIL the log has no line of a request, so nothing was compared: give the JSON lines that the API wrote before the loss',
    ];
  }
  const exported = lists.filter(({ kind }) => kind === 'export').length;
  const lost = `${countOf(lists.length - exported, 'list')}, ${countOf(exported, 'export')}, ${countOf(charges.length, 'charge')} and ${countOf(actions.length, 'action')}`;
  return [
    isKept(result)
      ? `ok   the database has what ${requests} answers in the log promised`
      : `FAIL the database lacks ${lost} of what ${requests} answers in the log promised`,
    ...lists.map(
      ({ batch_id: id, kind, account_id: account, answered_at: at }) =>
        `     ${kind} ${id} of account ${account}, answered ${at}`,
    ),
    ...charges.map(
      ({ request_id: id, account_id: account, answered_at: at, credits }) =>
        `     ${countOf(credits, 'credit')} of account ${account} for request ${id}, answered ${at}`,
    ),
    ...actions.map(
      ({ action, kind, batch_id: id, account_id: account, answered_at: at, state, reason }) =>
        `     ${action} of ${kind} ${id} of account ${account}, answered ${at}: it is ${state}${reason === null ? '' : ` (${reason})`}`,
    ),
    ...(changes.length === 0
      ? []
      : [
          'note these changes in the log cannot be compared; those since the moment of a restore are forgotten, so repeat them:',
        ]),
    ...changes.map(
      ({ method, route, id, account_id: account, times, last_at: at }) =>
        `     ${method} ${id === null ? route : route.replace(':id', id)}, ${countOf(times, 'time')} by account ${account}, last ${at}`,
    ),
  ];
}
