import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../src/core/lib/package-root.ts';
import { readSourceFiles } from './support/source-files.ts';

/** A code where an error is made: by a factory of errors.ts, or as the object that it builds. */
const made =
  /\b(?:conflict|unprocessable|unavailable|notNow)\(\s*'([a-z_]+)'|\bcode: '([a-z_]+)',\s*status\b/g;

/** Folders whose errors only the command line prints. */
const printed = /^src\/(?:jobs\/backup|core\/(?:accounts|db|graph-copy|redis)\/|core\/config\.ts)/;

/** Codes that no call is answered with, either. */
const unanswered = new Set([
  // The error of a list or an export, and the problem of an import run.
  ...[
    'processing_failed',
    'several_mappings',
    'attempt_failed',
    'too_many_gone',
    'empty_snapshot',
    'workbook',
  ],
  // Of the command line and of a start.
  ...[
    'reference_reused',
    'invalid_file',
    'another_store',
    'not_empty',
    'database_unavailable',
    'port_in_use',
  ],
  // Of a caller who has left, and of an export that is cancelled while it starts.
  ...['client_gone', 'cancelled'],
]);

/** Codes by the files that make them. */
function readCodes(): Map<string, string[]> {
  const codes = new Map<string, string[]>();
  for (const { path: file, text } of readSourceFiles()) {
    const isOurs = /^src\/(?:api|core|formats|jobs)\//.test(file) && !file.endsWith('test.ts');
    if (!isOurs || printed.test(file)) continue;
    for (const [, ofFactory, ofError] of text.matchAll(made)) {
      const code = ofFactory ?? ofError ?? '';
      codes.set(code, [...(codes.get(code) ?? []), file]);
    }
  }
  return codes;
}

test('the table of codes has every code that a call is answered with', () => {
  const page = readFileSync(path.join(packageRoot, 'docs/api.md'), 'utf8');
  const table = page.slice(page.indexOf('| status | `code` |'));
  const missing = [...readCodes()].filter(
    ([code]) => !table.includes(`\`${code}\``) && !unanswered.has(code),
  );
  expect(missing).toEqual([]);
});
