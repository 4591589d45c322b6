/** The priced operations, their prices and the kinds of identifiers, as the console and README.md show them. */
import { identifierKinds } from '../src/core/identifiers/identifier.ts';
import { type Operation, operations, personSearch } from '../src/core/operations.ts';
import { table } from './markdown-table.ts';

/** Returns `src/console/priced-operations.ts`: the console runs in the browser and imports nothing of ours. */
export function renderPricedOperations(): string {
  const rows = Object.entries<Operation>(operations).map(
    ([name, { label, price, about, identifiers }]) =>
      `  ${JSON.stringify({ name, label, price, about, identifiers })},\n`,
  );
  const labels = Object.entries(identifierKinds).map(
    ([kind, { label }]) => `  ${kind}: ${JSON.stringify(label)},\n`,
  );
  return `/** The priced operations and the kinds of identifiers. Generated from src/core by \`npm run docs\`: do not edit. */

/** Credits of a person of a search or an export. */
export const PERSON_PRICE: number = ${personSearch.price};

interface PricedOperation {
  name: string;
  label: string;
  /** Credits of a match. */
  price: number;
  /** The data that a match brings. */
  about: string;
  /** Kinds of columns by which it finds whom a row means, the most trusted first. */
  identifiers: readonly string[];
}

/** The operations that can be asked about the rows of a list. */
export const operations: readonly PricedOperation[] = [
${rows.join('')}];

/** Names of the kinds of identifiers. */
export const kindLabels: Readonly<Record<string, string>> = {
${labels.join('')}};
`;
}

/** Returns the table of prices of `README.md`. */
export function renderPrices(): string {
  const rows = Object.entries<Operation>(operations).map(([name, { price, about }]) => [
    `\`${name}\``,
    String(price),
    about,
  ]);
  const search = [
    `\`${personSearch.name}\``,
    String(personSearch.price),
    'Each person of a search or an export.',
  ];
  return table(['operation', 'credits per match', 'returns'], [...rows, search]);
}

/** Returns the table of single calls of `docs/api.md`. */
export function renderOperations(): string {
  const rows = Object.values<Operation>(operations).map(({ path, price, identifiers, data }) => [
    `\`GET ${path}\``,
    String(price),
    identifiers.map((kind) => `\`${kind}\``).join(', '),
    data,
  ]);
  return table(['call', 'credits', 'identifiers, one of them', '`data`'], rows);
}
