import { vi } from 'vitest';
import { buildProgramFor } from '../../workers/program.ts';

/**
 * Runs a command of `enrich` in this process; returns what it printed on stdout. Until it ends, `work` runs again and again:
 * that of the workers, for which the command waits.
 */
export async function printedBy(
  words: readonly string[],
  work?: () => Promise<unknown>,
): Promise<string> {
  const printed: string[] = [];
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed.push(String(text));
    return true;
  });
  try {
    const program = await buildProgramFor(words);
    const command = program.parseAsync(words, { from: 'user' });
    if (work !== undefined) await repeatUntilEnd(command, work);
    await command;
  } finally {
    write.mockRestore();
  }
  return printed.join('');
}

async function repeatUntilEnd(
  command: Promise<unknown>,
  work: () => Promise<unknown>,
): Promise<void> {
  let ended = false;
  const watched = command.finally(() => {
    ended = true;
  });
  while (!ended) {
    await Promise.race([watched, new Promise((resolve) => setImmediate(resolve))]);
    await work();
  }
}
