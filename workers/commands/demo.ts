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
import { changePassword } from '../../src/core/sessions/sessions.ts';
import { findRunningUp } from '../find-stack.ts';
import { readGlobals } from '../global-options.ts';
import { printResult, say } from '../output.ts';
import { formOf } from '../output-form.ts';
import { startStack, type UpFile } from '../stack.ts';
import { describeBatch, runBatch } from './batch.ts';

const DEMO_CREDITS = 10_000;
const DEMO_EMAIL = 'demo@example.com';
const DEMO_KEY = 'Demo';

export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('start the service, generate a sample graph and enrich the sample list')
    .action(async (_options, command: Command) => {
      const { config, json } = readGlobals(command);
      const running = await findRunningUp(config);
      const goesOn = running !== null;
      if (goesOn) return demo(config, running, { json, goesOn });
      say('Starting Postgres, the API and a worker ...');
      const log = createLog('warn', 'demo');
      const stack = await startStack({ ...config, port: 0, logLevel: 'warn' }, 1, log);
      const interrupted = untilInterrupted();
      try {
        const isInterrupted = await Promise.race([
          demo(config, stack.up, { json, goesOn }),
          interrupted,
        ]);
        if (!isInterrupted) return;
        say('Stopping ...');
        await stack.stop();
        // What the demo was in the middle of would still ask for what is gone.
        process.exit(1);
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
  });
}

/** Credentials of the demo's account: an API key, and a sign-in for the browser. */
interface DemoAccount {
  key: string;
  signIn: { email: string; password: string };
}

interface DemoOptions {
  json: boolean;
  /** True when the service runs by itself, and not for this demo alone. */
  goesOn: boolean;
}

async function demo(config: Config, up: UpFile, { json, goesOn }: DemoOptions): Promise<void> {
  const { key, signIn } = await prepare(up.database_url);
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
    goesOn
      ? `Next: open ${up.url} in a browser and sign in with`
      : 'Next: run `npm start`, open the address that it prints in a browser, and sign in with',
    `  e-mail    ${signIn.email}`,
    `  password  ${signIn.password}`,
    'Or enrich your own list in another terminal:',
    '  npm run -s enrich -- account create --name "My team" --credits 10000',
    '  npm run -s enrich -- key create --account ACCOUNT_ID --mode live',
    '  ENRICH_API_KEY=svc_live_... npm run -s enrich -- batch run my-list.csv --operation people.enrich',
  ]);
}

/** The sample graph, and an account with credits, a live key and a new password. */
async function prepare(databaseUrl: string): Promise<DemoAccount> {
  const sql = connect({ url: databaseUrl, connections: 2 });
  try {
    if (await isGraphEmpty(sql)) {
      say(
        `Generating a graph of ${sampleGraph.persons} people and ${sampleGraph.companies} companies ...`,
      );
      await generateGraph(sql, {
        ...sampleGraph,
        onProgress: ({ step, done, total }) => say(`  ${step}: ${done} of ${total}`),
      });
    }
    const password = generatePassword();
    const accountId = await demoAccount(sql, password);
    await revokeDemoKeys(sql, accountId);
    const { key } = await createKey(sql, { accountId, mode: 'live', name: DEMO_KEY });
    return { key, signIn: { email: DEMO_EMAIL, password } };
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
