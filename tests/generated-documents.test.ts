import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { renderConfigPage, renderEnvExample } from '../docs/config-documents.ts';
import { generatedDocuments } from '../docs/generated-documents.ts';
import { configOptions, readConfig } from '../src/core/config.ts';
import { packageRoot } from '../src/core/lib/package-root.ts';

test.each(generatedDocuments)('$path is what the code says', async ({ path: file, render }) => {
  const committed = await readFile(path.join(packageRoot, file), 'utf8').catch(() => '');
  expect(render(), `${file} is not up to date: run \`npm run docs\``).toBe(committed);
});

test('both pages show every option, and a default or what stands in for it', () => {
  const options = [
    { env: 'A_B', shown: '5', doc: 'One | two.' },
    { env: 'C', shown: '(none)', doc: 'Three.' },
  ];
  const page = renderConfigPage(options);
  expect(page).toContain('| `A_B` | `5` | One \\| two. |\n| `C` | (none) | Three. |\n');
  const example = renderEnvExample(options);
  expect(example).toContain('# One | two.\n# A_B=5\n\n# Three. Default: none.\n# C=\n');
});

test('a default that is shown is the default that is used', () => {
  const shown = Object.values(configOptions).filter((option) => !option.shown.startsWith('('));
  const environment = Object.fromEntries(shown.map((option) => [option.env, option.shown]));
  expect(readConfig(environment)).toEqual(readConfig({}));
});
