/** The frame of a drill: its folder, its last line, its exit code. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ApiCaller } from './api-caller.ts';
import { History } from './history.ts';

/** Runs a drill, prints its result as the last line, and exits 0 only without violations; 2 when it cannot be run. */
export async function runDrill<Options extends { seed: number }>(
  name: string,
  readOptions: () => Options,
  run: (options: Options, history: History) => Promise<{ violations: number }>,
): Promise<void> {
  try {
    const options = readOptions();
    const folder = mkdtempSync(path.join(tmpdir(), `enrich-${name}-${options.seed}-`));
    const history = new History(folder, (line) => process.stdout.write(`${line}\n`));
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => process.exit(1));
    }
    history.tell('start', { ...options, folder });
    const result = await run(options, history);
    history.note('result', result);
    history.close();
    process.stdout.write(`history and logs: ${folder}\n${JSON.stringify(result)}\n`);
    for (const large of ['data', 'old', 'next']) {
      rmSync(path.join(folder, large), { recursive: true, force: true });
    }
    process.exitCode = result.violations === 0 ? 0 : 1;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
    process.exit(2);
  }
}

/** Checks that every call was answered, with no failure but 503. */
export function checkAnswers(history: History, answers: ApiCaller['counts']): void {
  for (const [status, count] of Object.entries(answers)) {
    const isFailure = Number(status) >= 500 || status === '0';
    if (!isFailure || status === '503') continue;
    history.violate('every call is answered, and no failure but 503', { status, count });
  }
}
