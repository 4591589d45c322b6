import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { renderConfigTable, renderEnvExample } from '../docs/config-documents.ts';
import { generatedDocuments } from '../docs/generated-documents.ts';
import { fillSections } from '../docs/generated-sections.ts';
import { configOptions, readConfig } from '../src/core/config.ts';
import { packageRoot } from '../src/core/lib/package-root.ts';

test.each(generatedDocuments)('$path matches the code', async ({ path: file, render }) => {
  const committed = await readFile(path.join(packageRoot, file), 'utf8').catch(() => '');
  expect(render(), `${file} is not up to date: run \`npm run docs\``).toBe(committed);
});

test('both pages show every option with its default or a remark', () => {
  const options = [
    { env: 'A_B', shown: '5', doc: 'One | two.' },
    { env: 'C', shown: '(none)', doc: 'Three.' },
  ];
  const page = renderConfigTable(options);
  expect(page).toContain('| `A_B` | `5` | One \\| two. |\n| `C` | (none) | Three. |');
  const example = renderEnvExample(options);
  expect(example).toContain('# One | two.\n# A_B=5\n\n# Three. Default: none.\n# C=\n');
});

test('each default shown is the default used', () => {
  const shown = Object.values(configOptions).filter((option) => !option.shown.startsWith('('));
  const environment = Object.fromEntries(shown.map((option) => [option.env, option.shown]));
  expect(readConfig(environment)).toEqual(readConfig({}));
});

test('a page keeps its prose, and its sections are replaced', () => {
  const mark = (name: string) => `<!-- generated: ${name} -->`;
  const page = `# A\n\n${mark('one')}\n\nold\n\n<!-- end -->\n\nProse.\n\n${mark('two')}\n<!-- end -->\n`;
  const filled = fillSections(page, { one: '| $& |', two: 'b' });
  expect(filled).toBe(
    `# A\n\n${mark('one')}\n\n| $& |\n\n<!-- end -->\n\nProse.\n\n${mark('two')}\n\nb\n\n<!-- end -->\n`,
  );
  expect(fillSections(filled, { one: '| $& |', two: 'b' })).toBe(filled);
});

test('a page with other sections than the code is refused', () => {
  const page = '<!-- generated: one -->\n<!-- end -->';
  expect(() => fillSections(page, {})).toThrow('sections');
  expect(() => fillSections(page, { one: 'a', two: 'b' })).toThrow('sections');
});
