import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { packageRoot } from '../src/core/lib/package-root.ts';
import { parseSource, readSourceFiles } from './support/source-files.ts';

/** A path in backticks, from the package root, of a file with an extension. */
const named = /`((?:src|tests|infra|workers|bench|docs|\.ci)\/[\w./-]+)`/g;

const documents = readSourceFiles().filter(({ path: file }) => file.endsWith('.md'));

/** Titles of tests in quotes after their file, such as `a.test.ts` "one title", "another". */
function findQuotes(text: string): { file: string; title: string }[] {
  return [...text.matchAll(/`([\w/.-]+\.ts)`((?:,? "[^"]+")+)/g)].flatMap(
    ([, file = '', titles = '']) =>
      [...titles.matchAll(/"([^"]+)"/g)].map(([, title = '']) => ({ file, title })),
  );
}

/** Quoted titles that are not part of a string of their file. */
function findMissingTitles(text: string): string[] {
  return findQuotes(text)
    .filter(({ file, title }) => !hasString(file, title))
    .map(({ title }) => title);
}

function hasString(file: string, words: string): boolean {
  const { text, code } = parseSource(file, readFileSync(path.join(packageRoot, file), 'utf8'));
  for (let at = text.indexOf(words); at !== -1; at = text.indexOf(words, at + 1)) {
    // Comments and strings are blank in `code`; a string keeps its quotes.
    if (/['"`]$/.test(code.slice(0, at).trimEnd())) return true;
  }
  return false;
}

test.each(documents.map(({ path: file }) => file))('every file that %s names exists', (file) => {
  const text = readFileSync(path.join(packageRoot, file), 'utf8');
  const paths = [...text.matchAll(named)].map(([, found = '']) => found);
  const isMade = (found: string) => /^bench\/results\b|[<>*]/.test(found);
  expect(
    paths.filter((found) => !isMade(found) && !existsSync(path.join(packageRoot, found))),
  ).toEqual([]);
});

test.each(documents)('every test that $path quotes exists', ({ path: file, text }) => {
  expect(findMissingTitles(text)).toEqual([]);
  expect(file === 'docs/reliability.md' && findQuotes(text).length < 30).toBe(false);
});

test('a title in a comment or of another file is no test', () => {
  const line = (title: string) => `| \`tests/tidy.test.ts\` "holds", "${title}" |`;
  expect(findMissingTitles(line('every table that has an owner exists'))).toEqual([]);
  for (const title of ['The house rules about source text', 'every file that %s names exists']) {
    expect(findMissingTitles(line(title))).toEqual([title]);
  }
});

/** Rows of the tables of a page whose last column names what keeps each of them: code, or tests. */
function findPromises(text: string): string[] {
  const tables = text.split('\n\n').map((block) => block.split('\n'));
  return tables
    .filter(([head = '']) => /\| (kept by|tests) \|$/.test(head))
    .flatMap((rows) => rows.slice(2));
}

/** Returns true for a row that names a test, or code with a test next to it. */
function isTested(row: string): boolean {
  return [...row.matchAll(named)].some(([, file = '']) =>
    [file, file.replace(/\.ts$/, '.test.ts'), file.replace(/\.ts$/, '.pg.test.ts')].some(
      (path) => /\.test(-suite)?\.ts$/.test(path) && existsSync(`${packageRoot}/${path}`),
    ),
  );
}

test('each promise of the threat model names a test, or code with a test next to it', () => {
  const text = documents.find(({ path: file }) => file === 'docs/threat-model.md')?.text ?? '';
  const promises = findPromises(text);
  expect(promises.length).toBeGreaterThan(60);
  expect(promises.filter((row) => !isTested(row))).toEqual([]);
});

test('a promise that names code without a test next to it is found', () => {
  const row = (file: string) => `| b | \`${file}\` |`;
  const promises = ['src/core/keys/key-format.ts', 'src/core/keys/no-such-code.ts'].map(row);
  const table = ['| a | kept by |', '|---|---|', ...promises].join('\n');
  expect(findPromises(`# Page\n\n${table}\n\n| a | b |\n`)).toEqual(promises);
  expect(promises.map(isTested)).toEqual([true, false]);
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
});
