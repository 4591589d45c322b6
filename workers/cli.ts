#!/usr/bin/env node
/** The `enrich` command line. Exit codes: 0 success, 1 failure, 2 wrong usage. */
import { explainError } from './explain-error.ts';
import { say } from './output.ts';
import { buildProgramFor } from './program.ts';
import { refusedCertificate } from './refused-certificates.ts';

try {
  const program = await buildProgramFor(process.argv.slice(2));
  await program.parseAsync();
} catch (error) {
  const { exitCode, message } = explainError((await refusedCertificate(error)) ?? error);
  if (message !== null) say(`error: ${message}`);
  process.exitCode = exitCode;
}
