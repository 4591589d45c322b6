#!/usr/bin/env node
/** The `enrich` command line. Exit codes: 0 success, 1 failure, 2 wrong usage. */
import { explainError } from './explain-error.ts';
import { say } from './output.ts';
import { buildProgramFor } from './program.ts';
import { refusedCertificate } from './refused-certificates.ts';

// A reader that has read enough, such as `head`, closes the pipe: the command goes on to its own end.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
// Warnings of Node are for developers; API and worker log them (`logWarnings`).
process.removeAllListeners('warning');
try {
  const program = await buildProgramFor(process.argv.slice(2));
  await program.parseAsync();
} catch (error) {
  const { exitCode, message } = explainError((await refusedCertificate(error)) ?? error);
  // The stack of a bug has several lines.
  for (const line of message === null ? [] : `error: ${message}`.split('\n')) say(line);
  // What a process opened before it failed would keep it running.
  process.stderr.write('', () => process.exit(exitCode));
}
