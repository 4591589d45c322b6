import type { SqlMutant } from './sql-mutants.ts';

/** Returns the text of the file with the change of the mutant. Throws when there is nothing to change. */
export function mutate(text: string, { file, after, find, replace }: SqlMutant): string {
  const head = text.indexOf(after);
  const at = text.indexOf(find, head);
  if (head < 0 || at < 0) throw new Error(`${file} has no ${find} after ${after}`);
  return text.slice(0, at) + replace + text.slice(at + find.length);
}
