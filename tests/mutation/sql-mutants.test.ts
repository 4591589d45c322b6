/** The mutants of SQL still change something: a statement that is rewritten would lose its mutants unnoticed. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../src/core/lib/package-root.ts';
import { mutate } from './mutate.ts';
import { sqlMutants } from './sql-mutants.ts';

test.each(sqlMutants)('$after has $find', async (mutant) => {
  const text = await readFile(path.join(packageRoot, mutant.file), 'utf8');
  expect(mutate(text, mutant)).not.toBe(text);
});
