/** The columns of a list: one line for each, those that are matched on first. */
import { useMemo } from 'preact/hooks';
import { countOf, formatShare, inOrder } from '../format.ts';
import { columnKinds } from '../words.ts';
import type { Batch } from './batch.ts';
import { type ColumnKinds, evidenceOf } from './mapping.ts';
import type { Operation } from './operations.ts';
import type { Preview, SampledColumn } from './preview.ts';

interface MappingListProps {
  batch: Batch;
  operation: Operation;
  preview: Preview;
  columns: ColumnKinds;
  onChoose: (column: number, kind: string) => void;
}

export function MappingList({ batch, operation, preview, columns, onChoose }: MappingListProps) {
  // A line stays where it is when its choice changes.
  const first = useMemo(
    () => usedFirst(operation, preview.columns, columns).map(({ column }) => column),
    [batch.dialect.header_row, batch.dialect.sheet, preview.columns.length],
  );
  const used = first.flatMap((number) => preview.columns.filter(({ column }) => column === number));
  const others = preview.columns.filter(({ column }) => !first.includes(column));
  const othersUsed = others.filter(({ column }) => (columns.get(column) ?? '') !== '').length;
  const line = (column: SampledColumn) => (
    <MappingLine
      key={column.column}
      column={column}
      kind={columns.get(column.column) ?? ''}
      operation={operation}
      onChoose={onChoose}
    />
  );
  return (
    <>
      <div class="mapping-head" aria-hidden="true">
        <span>Your column</span>
        <span>Examples</span>
        <span>Filled</span>
        <span>Use as</span>
      </div>
      <ul class="mapping">{used.map(line)}</ul>
      {others.length > 0 && (
        <details class="more-options other-columns" open={used.length === 0}>
          <summary>
            {countOf(others.length, 'other column')},{' '}
            {othersUsed === 0 ? 'returned unchanged' : `${othersUsed} used`}
          </summary>
          <ul class="mapping">{others.map(line)}</ul>
        </details>
      )}
    </>
  );
}

/** The columns that are used: identifiers in the order of trust, then evidence. */
function usedFirst(
  operation: Operation,
  sampled: readonly SampledColumn[],
  columns: ColumnKinds,
): SampledColumn[] {
  const kinds = [...operation.identifiers, ...evidenceOf(operation)];
  const rankOf = ({ column }: SampledColumn) => kinds.indexOf(columns.get(column) ?? '');
  return sampled
    .filter((one) => rankOf(one) >= 0)
    .sort((one, other) => rankOf(one) - rankOf(other));
}

interface MappingLineProps {
  column: SampledColumn;
  kind: string;
  operation: Operation;
  onChoose: (column: number, kind: string) => void;
}

function MappingLine({ column, kind, operation, onChoose }: MappingLineProps) {
  const name = columnName(column);
  const samples = inOrder(column.samples.join(' · '));
  return (
    <li class={kind === '' ? '' : 'used'}>
      <strong title={name}>{name}</strong>
      <span class="samples" title={samples}>
        {samples === '' ? 'no values' : samples}
      </span>
      <span class="number soft">
        {formatShare(column.filled, 1)}
        <span class="unseen"> of the cells are filled</span>
      </span>
      <select
        aria-label={`Use “${name}” as`}
        value={kind}
        onChange={(event) => onChoose(column.column, event.currentTarget.value)}
      >
        <option value="">Don’t use</option>
        <optgroup label="Match on">
          {operation.identifiers.map((one) => (
            <option key={one} value={one}>
              {columnKinds[one]}
            </option>
          ))}
        </optgroup>
        <optgroup label="Extra evidence">
          {evidenceOf(operation).map((one) => (
            <option key={one} value={one}>
              {columnKinds[one]}
            </option>
          ))}
        </optgroup>
      </select>
    </li>
  );
}

export function columnName({ header, column }: Pick<SampledColumn, 'header' | 'column'>): string {
  return inOrder(header ?? '') || `Column ${column}`;
}
