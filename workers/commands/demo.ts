/** `demo`: the whole line on the sample list, from nothing to an enriched file. */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { createClient } from '../../src/client/client.ts';
import { createAccount } from '../../src/core/accounts/accounts.ts';
import type { Config } from '../../src/core/config.ts';
import { connect } from '../../src/core/db/client.ts';
import { generateGraph } from '../../src/core/graph/generate/generate-graph.ts';
import { sampleGraph } from '../../src/core/graph/generate/make-samples.ts';
import { isGraphEmpty } from '../../src/core/graph/generate/queries.ts';
import { createKey } from '../../src/core/keys/keys.ts';
import { packageRoot } from '../../src/core/lib/package-root.ts';
import { createLog } from '../../src/core/log.ts';
import { findRunningUp } from '../find-stack.ts';
import { readGlobals } from '../global-options.ts';
import { printResult, say } from '../output.ts';
import { startStack, type UpFile } from '../stack.ts';
import { describeBatch, runBatch } from './batch.ts';

const DEMO_CREDITS = 10_000;

export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('start the service, make a sample graph and enrich the sample list')
    .action(async (_options, command: Command) => {
      const { config, json } = readGlobals(command);
      const running = await findRunningUp(config);
      if (running !== null) return demo(config, running, json);
      say('Starting Postgres, the API and a worker ...');
      const log = createLog('warn', 'demo');
      const stack = await startStack({ ...config, port: 0, logLevel: 'warn' }, 1, log);
      const interrupted = untilInterrupted();
      try {
        const isInterrupted = await Promise.race([demo(config, stack.up, json), interrupted]);
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

async function demo(config: Config, up: UpFile, json: boolean): Promise<void> {
  const key = await prepare(up.database_url);
  const sample = path.join(packageRoot, 'samples', 'leads.csv');
  const folder = path.join(config.dataDir, 'demo');
  await mkdir(folder, { recursive: true });
  const output = path.join(folder, 'leads.enriched.csv');
  say(`Enriching ${path.relative(process.cwd(), sample)} ...`);
  const client = createClient(up.url, key);
  const batch = await runBatch(client, sample, output, { operation: 'people.enrich' }, !json);
  printResult(json, { ...batch, output }, [
    '',
    ...describeBatch(batch, path.relative(process.cwd(), output)),
    '',
    'Next: `npm start` runs the service; in another terminal',
    '  npm run -s enrich -- account create --name "My team" --credits 10000',
    '  npm run -s enrich -- key create --account ACCOUNT_ID --mode live',
    '  ENRICH_API_KEY=svc_live_... npm run -s enrich -- batch run my-list.csv --operation people.enrich',
  ]);
}

/** The sample graph, an account with credits, and a live key of it. */
async function prepare(databaseUrl: string): Promise<string> {
  const sql = connect({ url: databaseUrl, connections: 2 });
  try {
    if (await isGraphEmpty(sql)) {
      say(
        `Making a graph of ${sampleGraph.persons} people and ${sampleGraph.companies} companies ...`,
      );
      await generateGraph(sql, {
        ...sampleGraph,
        onProgress: ({ step, done, total }) => say(`  ${step}: ${done} of ${total}`),
      });
    }
    const accountId = await createAccount(sql, { name: 'Demo', credits: DEMO_CREDITS });
    return (await createKey(sql, { accountId, mode: 'live' })).key;
  } finally {
    await sql.end();
  }
}
