/** Shared by the commands of lists and exports: following progress, and the download. */
import { createWriteStream } from 'node:fs';
import { realpath, rename, rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import { SingleBar } from 'cli-progress';
import type { Batch, Export } from '../../src/client/api-types.ts';
import { AppError, unprocessable } from '../../src/core/lib/errors.ts';
import { countOf, say } from '../output.ts';
import { retryWhileUnavailable } from '../retry-while-unavailable.ts';
import { isSpecialFile } from '../special-file.ts';

export const POLL_MS = 200;
const POLL_MS_MAX = 1_000;

/** A list or an export that is followed, with a function that reads its progress. */
export interface Followed<Progress extends Batch | Export> {
  noun: 'batch' | 'export';
  id: string;
  read(): Promise<Progress>;
}

/** The newer of two responses: one that passes a slow proxy may say less than the one before. */
export function newerOf<Progress extends Batch | Export>(
  before: Progress | null,
  arrived: Progress,
): Progress {
  return before !== null && before.revision > arrived.revision ? before : arrived;
}

/**
 * Follows a list or an export until it is in one of these states. Throws `AppError` when it fails, is
 * cancelled, or pauses (unless `wait`).
 */
export async function follow<Progress extends Batch | Export>(
  followed: Followed<Progress>,
  options: { until: readonly string[]; wait: boolean; progress: boolean },
): Promise<Progress> {
  const { until, wait } = options;
  // Whoever interrupts the command needs it: a repeated command would make another one, and pay again.
  const { noun, id } = followed;
  const next = until.includes('ready')
    ? `\`enrich ${noun} start ${id}\` starts it once it is ready.`
    : `\`enrich ${noun} results ${id} -o FILE\` writes its rows.`;
  say(`${titleOf(followed)} was created. It continues if you interrupt this command; ${next}`);
  const bar = options.progress ? openBar() : null;
  let told = false;
  let newest: Progress | null = null;
  try {
    for (let polls = 0; ; polls++) {
      const batch: Progress = newerOf(newest, await retryWhileUnavailable(followed.read));
      newest = batch;
      bar?.update(batch);
      if (until.includes(batch.state)) return batch;
      if (batch.state === 'failed' || batch.state === 'cancelled')
        throw endedEarly(followed, batch);
      if (batch.state === 'paused' && !wait) throw paused(followed, batch);
      if (batch.state === 'paused' && !told) {
        say(`${titleOf(followed)} is paused: ${whyItPaused(batch)}. Waiting.`);
        told = true;
      }
      // A long run is asked less often: several at once share the account's limit of calls.
      await setTimeout(Math.min(POLL_MS_MAX, POLL_MS + polls * 20));
    }
  } finally {
    bar?.stop();
  }
}

function openBar(): { update(batch: Batch | Export): void; stop(): void } {
  const bar = new SingleBar({
    format: '{bar} {percentage}% | {value}/{total} rows | {rate} rows/s | {eta_formatted}',
    stream: process.stderr,
    hideCursor: true,
  });
  let started = false;
  return {
    update({ rows, rows_per_second }) {
      if (rows.total === null) return;
      if (!started) bar.start(rows.total, 0, { rate: 0 });
      started = true;
      bar.update(rows.processed, { rate: rows_per_second ?? 0 });
    },
    stop: () => bar.stop(),
  };
}

/**
 * Writes to a temporary file and renames it, so an existing file is never partial; through a link to the file that it names. A
 * device or a pipe is written to. True when the result is complete.
 */
export async function download(
  open: () => Promise<{ complete: boolean; stream: Readable }>,
  output: string,
): Promise<boolean> {
  const { complete, stream } = await retryWhileUnavailable(open);
  if (await isSpecialFile(output)) {
    await pipeline(stream, createWriteStream(output));
    return complete;
  }
  const file = await realpath(output).catch(() => output);
  const temporary = `${file}.part`;
  try {
    await pipeline(stream, createWriteStream(temporary));
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  return complete;
}

function titleOf({ noun, id }: { noun: string; id: string }): string {
  return `${noun === 'export' ? 'Export' : 'Batch'} ${id}`;
}

function endedEarly(followed: { noun: string; id: string }, batch: Batch | Export): AppError {
  return unprocessable(
    `${followed.noun}_${batch.state}`,
    (batch.error?.detail as string | undefined) ?? `${titleOf(followed)} was ${batch.state}.`,
  );
}

const whyPaused: Record<string, string> = {
  insufficient_credits: 'the wallet is empty. It resumes automatically when credits are added',
  key_budget:
    'the key has spent its credits of the day. It resumes automatically after midnight UTC, or when its limit is raised',
  user: 'it was paused by a user',
};

function whyItPaused({ id, credits, reason }: Batch | Export): string {
  if (reason === 'max_credits') {
    return `its limit of ${countOf(credits.max ?? 0, 'credit')} is used up. \`enrich batch cap ${id} CREDITS\` raises it and resumes the list`;
  }
  return whyPaused[reason ?? 'user'] ?? String(reason);
}

function paused(followed: { noun: string; id: string }, batch: Batch | Export): AppError {
  const hint = batch.reason === 'user' ? '' : ' (--wait waits for that)';
  return new AppError({
    code: `${followed.noun}_paused`,
    status: 402,
    message: `${titleOf(followed)} is paused after ${batch.rows.processed} rows: ${whyItPaused(batch)}${hint}. Finished rows are kept: \`enrich ${followed.noun} results ${followed.id} -o FILE\` writes them.`,
  });
}
