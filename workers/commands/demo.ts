/** `demo`: the whole line on the sample list, from nothing to an enriched file. */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { uuidv7 } from 'uuidv7';
import { isGraphEmpty } from '../../samples/generate/generate-graph.sql.ts';
import { generateGraph } from '../../samples/generate/generate-graph.ts';
import { sampleGraph } from '../../samples/generate/make-samples.ts';
import { createClient } from '../../src/client/client.ts';
import { createAccount, findAccountByEmail } from '../../src/core/accounts/accounts.ts';
import { generatePassword } from '../../src/core/accounts/password.ts';
import type { Config } from '../../src/core/config.ts';
import { grantCredits } from '../../src/core/credits/credits.ts';
import { connect, type Database } from '../../src/core/db/client.ts';
import { listKeys } from '../../src/core/keys/account-keys.sql.ts';
import { revokeOwnKey } from '../../src/core/keys/account-keys.ts';
import { createKey, VALID_KEYS_MAX } from '../../src/core/keys/keys.ts';
import { packageRoot } from '../../src/core/lib/package-root.ts';
import { createLog } from '../../src/core/log.ts';
import { changePassword, createSignInLink } from '../../src/core/sessions/sessions.ts';
import { findRunningUp, type UpFile } from '../find-service.ts';
import { portOrAny } from '../free-port.ts';
import { readGlobals } from '../global-options.ts';
import { openProgressLine, printResult, say } from '../output.ts';
import { formOf } from '../output-form.ts';
import { startStack } from '../stack.ts';
import { runBatch } from './batch.ts';
import { describeBatch } from './describe-batch.ts';

const DEMO_CREDITS = 10_000;
const DEMO_EMAIL = 'demo@example.com';
const DEMO_KEY = 'Demo';

export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description(
      'start the service, generate a sample graph and enrich the sample list; in a terminal it then runs until Ctrl-C',
    )
    .action(async (_options, command: Command) => {
      const { config, json } = readGlobals(command);
      const staysUp = !json && !config.isCi && process.stdout.isTTY === true;
      const running = await findRunningUp(config);
      if (running !== null) {
        await demo(config, running, { json, withLink: staysUp, runs: 'by itself' });
        return;
      }
      say('Starting Postgres, the API and a worker ...');
      const log = createLog('warn', 'demo');
      // The address to sign in at stays the same from one demo to the next, and is that of `npm start`.
      const port = staysUp ? await portOrAny(config.host, config.port) : 0;
      const stack = await startStack({ ...config, port, logLevel: 'warn' }, 1, log);
      const interrupted = untilInterrupted();
      try {
        const runs = staysUp ? 'until Ctrl-C' : 'for the demo';
        const isInterrupted = await Promise.race([
          demo(config, stack.up, { json, withLink: staysUp, runs }),
          interrupted,
        ]);
        if (!isInterrupted && !staysUp) return;
        const reason = await Promise.race([interrupted, stack.failed]);
        say('Stopping ...');
        await stack.stop();
        if (reason !== true) throw reason;
        // What the demo was in the middle of would still ask for what is gone.
        if (isInterrupted) process.exit(1);
      } finally {
        await stack.stop();
      }
    });
}

/** Resolves at Ctrl-C. */
function untilInterrupted(): Promise<true> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve(true));
    process.once('SIGTERM', () => resolve(true));
    process.once('SIGHUP', () => resolve(true));
  });
}

/** Credentials of the demo's account: an API key, a sign-in for the browser, and the text of a link. */
interface DemoAccount {
  key: string;
  signIn: { email: string; password: string };
  link: string | null;
}

interface DemoOptions {
  json: boolean;
  withLink: boolean;
  /** How long the service runs. */
  runs: 'for the demo' | 'until Ctrl-C' | 'by itself';
}

async function demo(config: Config, up: UpFile, options: DemoOptions): Promise<void> {
  const { json, runs } = options;
  const account = await prepare(up.database_url, options.withLink);
  const { key, signIn } = account;
  const sample = path.join(packageRoot, 'samples', 'leads.csv');
  const folder = path.join(config.dataDir, 'demo');
  await mkdir(folder, { recursive: true });
  const output = path.join(folder, 'leads.enriched.csv');
  say(`Enriching ${path.relative(process.cwd(), sample)} ...`);
  const client = createClient(up.url, key);
  const batch = await runBatch(
    client,
    sample,
    { output, form: formOf(output, {}) },
    { operation: 'people.enrich' },
    !json,
  );
  printResult(json, { ...batch, output, sign_in: signIn }, [
    '',
    ...describeBatch(batch, path.relative(process.cwd(), output)),
    '',
    ...describeSignIn(runs === 'for the demo' ? null : up.url, account),
    ...(account.link === null ? describeNext() : []),
    ...(runs === 'until Ctrl-C' ? ['', 'The service runs until you press Ctrl-C.'] : []),
  ]);
}

/** How to sign in to the service at the address; null for one that has to be started. */
function describeSignIn(url: string | null, { signIn, link }: DemoAccount): string[] {
  const { email, password } = signIn;
  if (link !== null) {
    return [
      'Open this link in a browser on this machine. It signs you in once, within ten minutes:',
      '',
      `  ${url}/#/sign-in?link=${link}`,
      '',
      `Later, sign in at ${url} with ${email} and the password ${password}`,
    ];
  }
  return [
    url === null
      ? 'Next: run `npm start`, open the address that it prints in a browser, and sign in with'
      : `Next: open ${url} in a browser and sign in with`,
    `  email     ${email}`,
    `  password  ${password}`,
  ];
}

function describeNext(): string[] {
  return [
    'Or enrich your own list in another terminal:',
    '  npm run -s enrich -- account create --name "My team" --email you@example.com --credits 10000',
    '  npm run -s enrich -- key create --account you@example.com --mode live',
    '  ENRICH_API_KEY=svc_live_... npm run -s enrich -- batch run my-list.csv --operation people.enrich',
  ];
}

/** The sample graph, and an account with credits, a live key and a new password. */
async function prepare(databaseUrl: string, withLink: boolean): Promise<DemoAccount> {
  const sql = connect({ url: databaseUrl, connections: 2 });
  try {
    if (await isGraphEmpty(sql)) {
      const { persons, companies } = sampleGraph;
      const line = openProgressLine(
        `Creating sample data: ${persons.toLocaleString('en')} people, ${companies.toLocaleString('en')} companies`,
      );
      await generateGraph(sql, {
        ...sampleGraph,
        onProgress: ({ step, done, total }) => line.update(`${step}: ${done} of ${total}`),
      });
      line.end();
    }
    const password = generatePassword();
    const accountId = await demoAccount(sql, password);
    await revokeDemoKeys(sql, accountId);
    const { key } = await createKey(sql, { accountId, mode: 'live', name: DEMO_KEY });
    const link = withLink ? await createSignInLink(sql, accountId) : null;
    return { key, signIn: { email: DEMO_EMAIL, password }, link };
  } finally {
    await sql.end();
  }
}

/** The account of earlier demos, or a new one, with credits for one more demo. */
async function demoAccount(sql: Database, password: string): Promise<string> {
  const accountId = await findAccountByEmail(sql, DEMO_EMAIL);
  if (accountId === null) {
    const input = { name: 'Demo', email: DEMO_EMAIL, password, credits: DEMO_CREDITS };
    return createAccount(sql, input);
  }
  await changePassword(sql, { accountId, password });
  await grantCredits(sql, { accountId, amount: DEMO_CREDITS, reference: `demo:${uuidv7()}` });
  return accountId;
}

/** Revokes the keys of earlier demos, which are not used any more. */
async function revokeDemoKeys(sql: Database, accountId: string): Promise<void> {
  const owner = { accountId, mode: null };
  const keys = await listKeys(sql, owner, { before: null, limit: VALID_KEYS_MAX });
  const left = keys.filter(({ name, revokedAt }) => name === DEMO_KEY && revokedAt === null);
  for (const { id } of left) await revokeOwnKey(sql, owner, id);
}
