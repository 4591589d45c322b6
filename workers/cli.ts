#!/usr/bin/env node
/** The `enrich` command line. Exit codes: 0 success, 1 failure, 2 wrong usage. */
import { CommanderError } from 'commander';
import { ProblemError, UnreachableError } from '../src/client/client.ts';
import { AppError } from '../src/core/lib/errors.ts';
import { say } from './output.ts';
import { buildProgram } from './program.ts';

try {
  await buildProgram().parseAsync();
} catch (error) {
  process.exitCode = explain(error);
}

/** Prints the error in a sentence; returns the exit code. */
function explain(error: unknown): number {
  // Help and version end like errors, with code 0; commander has said the rest already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof AppError || error instanceof ProblemError) {
    say(`error: ${error.message}`);
    return error instanceof AppError && error.code === 'usage' ? 2 : 1;
  }
  if (error instanceof UnreachableError) {
    say(`error: ${error.message}`);
    return 1;
  }
  const { syscall, path } = error as { syscall?: unknown; path?: unknown };
  if (error instanceof Error && typeof syscall === 'string') {
    // A file that is absent, unreadable or cannot be written: `ENOENT: no such file or directory, open '...'`.
    say(`error: ${typeof path === 'string' ? `${path}: ` : ''}${error.message}`);
    return 1;
  }
  say(`error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  return 1;
}
