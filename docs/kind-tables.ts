/** The tables of identifier kinds in `concepts.md` and `test-mode.md`. */
import { identifierKinds } from '../src/core/identifiers/identifier.ts';
import { table } from './markdown-table.ts';

export function renderKinds(): string {
  const rows = Object.entries(identifierKinds).map(([kind, { person, company, forms }]) => {
    const subjects = [...(person ? ['people'] : []), ...(company ? ['companies'] : [])];
    return [`\`${kind}\``, subjects.join(', '), forms];
  });
  return table(['identifier', 'of', 'forms that are read as the same value'], rows);
}

export function renderTestIdentifiers(): string {
  const rows = Object.entries(identifierKinds).map(([kind, { testIdentifier }]) => [
    `\`${kind}\``,
    `\`${testIdentifier('WORD', 'N')}\``,
  ]);
  return table(['identifier', 'in test mode'], rows);
}
