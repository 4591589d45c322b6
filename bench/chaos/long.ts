/**
 * `npm run long`: a round for each seed on both stacks concurrently, with a log of results. With `--mutants`, a
 * round for each defence that can be switched off instead; each has to report its violation, and soon.
 */
import { execFile } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../src/core/lib/package-root.ts';
import { parseOptions } from '../parse-options.ts';
import { mutations } from './chaos.sql.ts';
import type { Mutant, RoundResult } from './round.ts';

const run = promisify(execFile);

interface Round {
  backend: 'embedded' | 'redis';
  seed: number;
  minutes: string;
  mutant: Mutant | null;
}

/** The end of a round: `ok` when as expected. */
type Ended = { ok: boolean; seconds: number } & (
  | RoundResult
  | { violation: string }
  | { code: unknown; stdout: string | undefined; stderr: string | undefined }
);

/**
 * A round of any length begins with faults and ends with checks; either has to detect the mutant. One is ended when it had the
 * time: without a defence, lists may be stuck for good.
 */
const MUTANT_MINUTES = '0.1';
const RED_SECONDS_MAX = 240;
/**
 * The violation that a round must report for each: a failure for another reason, such as a timeout on a busy
 * machine, does not count.
 */
const seenAs: Record<Mutant, RegExp> = {
  fencing: /VIOLATION .*\btoken\b/,
  'unique-reference': /VIOLATION .*"use a reference twice"/,
  'decided-once': /VIOLATION .*"a decision is charged once/,
  'change-number': /VIOLATION .*a list names who holds an address now/,
  'check-constraint': /VIOLATION .*"spend what is reserved"/,
};

/** Seeds from the first, each on both backends, as concurrent rounds. */
function planRounds(first: number, seeds: number, minutes: string): Round[][] {
  return Array.from({ length: seeds }, (_, index) => first + index).map((seed) =>
    (['embedded', 'redis'] as const).map((backend) => ({ backend, seed, minutes, mutant: null })),
  );
}

function planMutants(): Round[][] {
  return (Object.keys(mutations) as Mutant[]).map((mutant) => [
    { backend: 'embedded', seed: 1, minutes: MUTANT_MINUTES, mutant },
  ]);
}

/** Runs one round; returns its last output, and all output when unexpected. */
async function runOne({ backend, seed, minutes, mutant }: Round): Promise<Ended> {
  const program = path.join(import.meta.dirname, 'run.js');
  const words = ['--seed', String(seed), '--minutes', minutes, '--backend', backend];
  if (mutant !== null) words.push('--mutant', mutant);
  const started = performance.now();
  const ended = await run(process.execPath, [program, ...words], {
    maxBuffer: 64 * 1024 * 1024,
    ...(mutant === null ? {} : { timeout: RED_SECONDS_MAX * 1000 }),
  }).catch((error: { code?: unknown; stdout?: string; stderr?: string }) => error);
  const seconds = Math.round((performance.now() - started) / 1000);
  const code = 'code' in ended ? ended.code : 0;
  const { stdout = '', stderr } = ended;
  const violation = mutant === null ? undefined : seenAs[mutant].exec(stdout)?.[0];
  if (violation !== undefined) return { ok: true, seconds, violation };
  if (mutant !== null || code !== 0) return { ok: false, seconds, code, stdout, stderr };
  const result = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as RoundResult;
  return { ok: true, seconds, ...result };
}

/** Runs one round and records its end. */
async function logOne(round: Round): Promise<void> {
  const ended = await runOne(round);
  const line = JSON.stringify({ time: new Date().toISOString(), ...round, ...ended });
  appendFileSync(values.log, `${line}\n`);
  process.stdout.write(`${line}\n`);
  if (!ended.ok) process.exitCode = 1;
}

const options = {
  from: { type: 'string', default: '1' },
  seeds: { type: 'string', default: '12' },
  minutes: { type: 'string', default: '4' },
  mutants: { type: 'boolean', default: false },
  log: {
    type: 'string',
    default: path.join(packageRoot, 'bench', 'results', 'chaos-long.jsonl'),
  },
} as const;
const values = parseOptions(
  'usage: npm run long -- [--from SEED] [--seeds N] [--minutes M] [--log FILE] | [--mutants]',
  { options },
  ({ values: given }) => {
    const isRight = Number(given.from) >= 0 && Number(given.seeds) > 0 && Number(given.minutes) > 0;
    return isRight ? given : null;
  },
);
const plan = values.mutants
  ? planMutants()
  : planRounds(Number(values.from), Number(values.seeds), values.minutes);
for (const atOnce of plan) await Promise.all(atOnce.map(logOne));
