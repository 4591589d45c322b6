/**
 * The mutants of SQL still change something, and their tests have the names by which they are run: a statement that is
 * rewritten, or a test that is renamed, would lose its mutants unnoticed.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../src/core/lib/package-root.ts';
import { killers } from './killers.ts';
import { mutate } from './mutate.ts';
import { sqlMutants } from './sql-mutants.ts';

const read = (file: string) => readFile(path.join(packageRoot, file), 'utf8');

test.each(sqlMutants)('$after has $find', async (mutant) => {
  const text = await read(mutant.file);
  expect(mutate(text, mutant)).not.toBe(text);
});

test.each(Object.values(killers))('$file has the test $test', async ({ file, test: name }) => {
  expect(await read(file)).toContain(name);
});
