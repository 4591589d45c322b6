import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../src/core/lib/package-root.ts';
import { readSourceFiles } from './support/source-files.ts';

/** A path between backticks, from the package root, of a file with an ending. */
const named = /`((?:src|tests|infra|workers|bench|docs|\.ci)\/[\w./-]+)`/g;

const documents = readSourceFiles().filter(({ path: file }) => file.endsWith('.md'));

test.each(documents.map(({ path: file }) => file))('every file that %s names is there', (file) => {
  const text = readFileSync(path.join(packageRoot, file), 'utf8');
  const paths = [...text.matchAll(named)].map(([, found = '']) => found);
  const isMade = (found: string) => /^bench\/results\b|[<>*]/.test(found);
  expect(
    paths.filter((found) => !isMade(found) && !existsSync(path.join(packageRoot, found))),
  ).toEqual([]);
});

test('each boundary of the threat model names tests that guard it', () => {
  const text = documents.find(({ path: file }) => file === 'docs/threat-model.md')?.text ?? '';
  const boundaries = text.split(/^## /m).slice(1, -1);
  expect(boundaries.length).toBeGreaterThan(8);
  for (const boundary of boundaries) {
    const [title = ''] = boundary.split('\n');
    expect([...boundary.matchAll(named)].length, title).toBeGreaterThan(1);
  }
});
