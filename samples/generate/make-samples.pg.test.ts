import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../../src/core/lib/package-root.ts';
import { createTestDatabase } from '../../tests/support/database.ts';
import { generateGraph } from './generate-graph.ts';
import { makeSamples, sampleGraph } from './make-samples.ts';

it('reproduces the files under samples/ byte for byte', async () => {
  const database = await createTestDatabase();
  const folder = await mkdtemp(path.join(tmpdir(), 'samples-'));
  try {
    await generateGraph(database.sql, sampleGraph);
    await makeSamples(database.sql, folder);
    for (const name of ['leads.csv', 'leads.truth.csv']) {
      const made = await readFile(path.join(folder, name));
      const kept = await readFile(path.join(packageRoot, 'samples', name));
      expect(made.equals(kept), `samples/${name} is as generated; make it again if not`).toBe(true);
    }
  } finally {
    await rm(folder, { recursive: true });
    await database.drop();
  }
}, 180_000);
