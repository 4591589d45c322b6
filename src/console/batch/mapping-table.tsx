import { ProblemNotice } from '../components/problem-notice.tsx';
import { operations } from '../priced-operations.ts';
import { columnKinds, sayKind, sayReason } from '../words.ts';
import type { Batch } from './batch.ts';
import { findOperation } from './operations.ts';
import type { Preview, PreviewRow } from './preview.ts';
import { KindOptions } from './unmapped-columns.tsx';
import type { Choice } from './use-mapping.ts';

interface MappingTableProps {
  batch: Batch;
  preview: Preview;
  choice: Choice;
}

/** The first rows, and above each column what it holds. */
export function MappingTable({ batch, preview, choice }: MappingTableProps) {
  const { columns, choose } = choice;
  const operation = findOperation(batch.operation) ?? operations[0];
  if (operation === undefined) return null;
  const { header } = batch.dialect;
  const width = Math.max(header?.length ?? 0, ...preview.rows.map(({ cells }) => cells.length));
  const numbers = Array.from({ length: width }, (_, index) => index + 1);
  const nameOf = (column: number) => header?.[column - 1] || `Column ${column}`;
  return (
    <>
      <ProblemNotice problem={choice.problem} />
      {!choice.isUsable && (
        <p class="notice warn" role="alert">
          Say which column holds what can be looked up:{' '}
          {operation.identifiers.map((kind) => columnKinds[kind]).join(', ')}.
        </p>
      )}
      <section class="table sheet" aria-label="First rows of the list">
        <table aria-busy={choice.isUsable && !choice.isSaved}>
          <caption class="unseen">The first rows, and what each column holds</caption>
          <thead>
            <tr>
              <th scope="col">Looked up</th>
              {numbers.map((column) => (
                <th key={column} scope="col" class={columns.get(column) ? 'used' : ''}>
                  {nameOf(column)}
                </th>
              ))}
            </tr>
            <tr>
              <td />
              {numbers.map((column) => (
                <td key={column} class={columns.get(column) ? 'used' : ''}>
                  <select
                    aria-label={`What “${nameOf(column)}” holds`}
                    value={columns.get(column) ?? ''}
                    onChange={(event) => choose(column, event.currentTarget.value)}
                  >
                    <KindOptions operation={operation} />
                  </select>
                </td>
              ))}
            </tr>
          </thead>
          <tbody>
            {preview.rows.map((row) => (
              <tr key={row.row}>
                <th scope="row">
                  <LookedUp row={row} />
                </th>
                {numbers.map((column) => (
                  <td key={column} class={columns.get(column) ? 'used' : ''}>
                    <span class="cell">{row.cells[column - 1]}</span>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}

/** What is looked up for a row, as it was understood. */
function LookedUp({ row: { identifiers, invalid } }: { row: PreviewRow }) {
  const found = Object.entries(identifiers);
  if (found.length === 0) return <span class="error">{sayReason(invalid ?? 'no_identifier')}</span>;
  return (
    <>
      {found.map(([kind, values]) => (
        <span class="cell canonical" key={kind} title={`${sayKind(kind)}: ${values.join(', ')}`}>
          {values.join(', ')}
        </span>
      ))}
    </>
  );
}
