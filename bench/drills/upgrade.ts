/**
 * `npm run drill:upgrade`: under lists and calls, the database is migrated, processes of the new version run beside those of
 * the old one, replace them, and are replaced by the old ones again. Nothing may fail or get lost.
 */
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { environmentWithOnly } from '../../src/core/config.ts';
import { readSteps } from '../../src/core/db/migration-steps.ts';
import { type ChaosStack, openChaosStack, type Processes } from '../chaos/chaos-stack.ts';
import type { History } from '../chaos/history.ts';
import type { Random } from '../chaos/random.ts';
import { runTrial } from '../chaos/round.ts';
import { checkAnswers, runDrill } from '../chaos/run-drill.ts';
import { parseOptions } from '../parse-options.ts';
import {
  buildVersion,
  findRelease,
  makeNextVersion,
  migrateBy,
  thisVersion,
  type Version,
} from './versions.ts';

const USAGE =
  'usage: npm run drill:upgrade -- [--seed N] [--minutes M] [--from REF] [--mutant renames-column]';
const SIZE = { apis: 2, workers: 2 };
const SEEN_MS_MAX = 20_000;
const LOOK_AGAIN_MS = 200;
/** A client that has just chosen an API reaches it before that is told to end. */
const LAST_CALLS_MS = 500;

interface Options {
  seed: number;
  minutes: number;
  /** The commit or tag of the old version; null for the newest release. */
  from: string | null;
  mutant: string | null;
}

/** Migrations that touch what lists and calls use all the time; numbered after all real ones. */
const migrations = {
  'app/9001-drill.sql': `-- Runs with ${thisVersion.name}
    alter table batches add column drill_note text not null default 'none';
    alter table chunks add column drill_number int not null default 7;
    alter table parts add column drill_number int;
    alter table wallets add column drill_number bigint not null default 0, add column drill_at timestamptz;
    alter table ledger_entries add column drill_note text;
    alter table api_keys add column drill_flags int not null default 0;
    alter table wallets add constraint drill_number check (drill_number >= 0) not valid;
    create table drill_rows (id bigint primary key, note text not null);`,
  'app/9002-drill-validate.sql': `-- Runs with ${thisVersion.name}
    alter table wallets validate constraint drill_number;`,
  'app/9003-drill-index.sql': `-- Outside a transaction
    -- Runs with ${thisVersion.name}
    create index concurrently if not exists drill_index on ledger_entries (kind, created_at);`.replace(
    /^ +/gm,
    '',
  ),
  'graph/9001-drill.sql': `-- Runs with ${thisVersion.name}
    alter table persons add column drill_number int not null default 1;`,
};
/** Removes what the old version needs, against the rule for migrations. */
const RENAMES = 'alter table batches rename column name to title;';

const options = {
  seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
  minutes: { type: 'string', default: '3' },
  from: { type: 'string' },
  mutant: { type: 'string' },
} as const;

function readOptions(): Options {
  return parseOptions(USAGE, { options }, ({ values }) => {
    const { from = null, mutant = null } = values;
    const seed = Number(values.seed);
    const minutes = Number(values.minutes);
    const isKnown = mutant === null || mutant === 'renames-column';
    const isRight = Number.isSafeInteger(seed) && minutes > 0 && isKnown;
    return isRight ? { seed, minutes, from, mutant } : null;
  });
}

/**
 * The last release and this version; without a release to upgrade from, or with a mutant, this version and the same code
 * with further migrations.
 */
async function openVersions(
  { from, mutant }: Options,
  folder: string,
  history: History,
): Promise<{ old: Version; next: Version }> {
  const ref = from ?? (await findRelease());
  if (ref !== null && mutant === null) {
    const old = await buildVersion(ref, path.join(folder, 'old'));
    history.tell('upgrade', { from: `${old.name} (${ref})`, to: thisVersion.name });
    return { old, next: thisVersion };
  }
  const broken = { ...migrations };
  if (mutant !== null) broken['app/9001-drill.sql'] += RENAMES;
  const problems = Object.values(broken).flatMap((text) =>
    readSteps(text).flatMap(({ problem }) => problem ?? []),
  );
  const next = await makeNextVersion(path.join(folder, 'next'), broken);
  const why = 'no earlier release is tagged in this repository (a shallow clone has no tags)';
  history.tell('upgrade', { from: thisVersion.name, to: `itself as ${next.name}`, why, problems });
  return { old: thisVersion, next };
}

async function upgradeForwardAndBack(options: Options, history: History) {
  const { seed, minutes } = options;
  const { old, next } = await openVersions(options, history.folder, history);
  const environment = environmentWithOnly({ logLevel: 'warn' });
  const addresses: { url: string } = { url: '' };
  await using stack = await openChaosStack('embedded', SIZE, history, {
    code: old.code,
    async migrate(url) {
      addresses.url = url;
      await migrateBy(old, url, environment);
    },
  });
  let rolls = 0;
  let running: Processes = { apis: stack.apis, workers: stack.workers, urls: [...stack.urls] };
  const trial = await runTrial(stack, history, {
    seed,
    damagesObjects: false,
    weaken: () => Promise.resolve(),
    begin: () => Promise.resolve([]),
    async disturb(random) {
      const until = Date.now() + minutes * 60_000;
      const times = random.fork('upgrades');
      await delay(times.between(1_000, 4_000));
      const started = performance.now();
      await migrateBy(next, addresses.url, environment);
      history.tell('migrated', { seconds: (performance.now() - started) / 1_000 });
      let version = next;
      do {
        running = await roll(stack, history, times, { running, version });
        rolls += 1;
        version = version === next ? old : next;
        // It ends with the new version, and was back at the old one at least once.
      } while (Date.now() < until || rolls < 3 || version === next);
    },
  }).catch((error: unknown) => {
    // What was found is told, also when it keeps the checks from their end.
    if (history.violations.length === 0) throw error;
    history.violate('the drill reaches its end', { error: String(error) });
    return { runs: [], calls: 0, answers: {} };
  });
  const { runs, calls, answers } = trial;
  checkAnswers(history, answers);
  await stack.stop();
  if (stack.crashes() > 0) history.violate('no process fails', { crashes: stack.crashes() });
  return {
    seed,
    from: old.name,
    to: next.name,
    rolls,
    lists: runs.length,
    rows: runs.reduce((sum, { list }) => sum + list.rows, 0),
    calls,
    violations: history.violations.length,
  };
}

/** Starts processes of the version beside those that run, and then ends these. */
async function roll(
  stack: ChaosStack,
  history: History,
  random: Random,
  { running, version }: { running: Processes; version: Version },
): Promise<Processes> {
  await delay(random.between(500, 3_000));
  const added = await stack.add(SIZE, version.code);
  stack.urls.push(...added.urls);
  await waitForBoth(stack, history);
  await delay(random.between(1_000, 5_000));
  // As a load balancer does: no new calls, then the end.
  stack.urls.splice(0, stack.urls.length, ...added.urls);
  await delay(LAST_CALLS_MS);
  const ended = await Promise.all([...running.apis, ...running.workers].map((one) => one.stop()));
  for (const drain of ended) {
    if (drain?.code !== 0) history.violate('a process that is replaced ends cleanly', { drain });
  }
  history.tell('rolled', { to: version.name });
  return added;
}

/** Resolves when processes of two versions report that they run. */
async function waitForBoth(stack: ChaosStack, history: History): Promise<void> {
  const deadline = Date.now() + SEEN_MS_MAX;
  while (Date.now() < deadline) {
    const versions = await stack.ask(
      (sql) => sql`
        select from processes where seen_at > now() - interval '10 seconds' group by version`,
    );
    if (versions.length === 2) return;
    await delay(LOOK_AGAIN_MS);
  }
  history.violate('both versions run side by side');
}

await runDrill('upgrade', readOptions, upgradeForwardAndBack);
