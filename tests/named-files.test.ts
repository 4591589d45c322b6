import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { packageRoot } from '../src/core/lib/package-root.ts';
import { readSourceFiles } from './support/source-files.ts';

/** A path in backticks, from the package root, of a file with an extension. */
const named = /`((?:src|tests|infra|workers|bench|docs|\.ci)\/[\w./-]+)`/g;

const documents = readSourceFiles().filter(({ path: file }) => file.endsWith('.md'));

test.each(documents.map(({ path: file }) => file))('every file that %s names exists', (file) => {
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

describe('the thirty-four promises', () => {
  const text = documents.find(({ path: file }) => file === 'docs/reliability.md')?.text ?? '';
  const promises = text.split('\n').filter((line) => /^\| \d+ \|/.test(line));
  const { scripts } = JSON.parse(readFileSync(path.join(packageRoot, 'package.json'), 'utf8'));
  const testFiles = readSourceFiles().filter(({ path: file }) => file.endsWith('.test.ts'));

  test('are complete, in order, each with what was reached', () => {
    const cells = promises.map((line) => line.split(' | '));
    expect(cells.map(([number = '']) => number)).toEqual(
      Array.from({ length: 34 }, (_, index) => `| ${index + 1}`),
    );
    for (const row of cells) expect(row.filter((cell) => cell.trim() !== '')).toHaveLength(5);
  });

  test.each(promises)('name existing commands: %s', (line) => {
    const commands = [...(line.split(' | ').at(-1) ?? '').matchAll(/`([^`]+)`/g)];
    expect(commands.length).toBeGreaterThan(0);
    for (const [, command = ''] of commands) {
      const [, script, filters] = /^(?:npm run (\S+)|npx vitest run (.+))/.exec(command) ?? [];
      if (script !== undefined) expect(scripts, command).toHaveProperty(script);
      else expect(filters, command).toBeDefined();
      for (const filter of filters?.split(' ') ?? []) {
        expect(
          testFiles.some(({ path: file }) => file.includes(filter)),
          filter,
        ).toBe(true);
      }
    }
  });

  test.each(promises)('name existing tests: %s', (line) => {
    const [, , held = ''] = line.split(' | ');
    for (const [, file = '', names = ''] of held.matchAll(/`([^`]+\.ts)`((?: "[^"]+",?)*)/g)) {
      const source = readFileSync(path.join(packageRoot, file), 'utf8');
      for (const [, name = ''] of names.matchAll(/"([^"]+)"/g)) expect(source).toContain(name);
    }
  });
});
