import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { buildProgram } from '../program.ts';
import { completionScript } from './completion.ts';

const program = await buildProgram();

/** The words that bash offers for the last of these. */
function completed(...words: string[]): string[] {
  const line = words.map((word) => `'${word}'`).join(' ');
  const script = `${completionScript(program, 'bash')}
COMP_WORDS=(enrich ${line}); COMP_CWORD=${words.length}; _enrich; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).split('\n').filter(Boolean);
}

test('commands, their subcommands and their options are completed', () => {
  expect(completed('ba')).toEqual(['backup', 'batch']);
  expect(completed('batch', 're')).toEqual(['results', 'resume', 'rerun']);
  expect(completed('batch', 'run', '--def')).toEqual(['--default-region']);
});

test('what comes after arguments is completed for the command before them', () => {
  expect(completed('batch', 'run', 'leads.csv', '--operation', 'people.enrich', '--ded')).toEqual([
    '--dedupe',
  ]);
});
