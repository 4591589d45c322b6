/** The first rows of a list as they were read, with the values that each is matched on: the proof of a mapping. */
import { CellText } from '../components/cell-text.tsx';
import { sayKind, sayReason } from '../words.ts';
import type { ColumnKinds } from './mapping.ts';
import { columnName } from './mapping-list.tsx';
import type { Preview, PreviewRow } from './preview.ts';

interface FirstRowsProps {
  /** The subject of a row of the list. */
  subject: 'person' | 'company';
  preview: Preview;
  columns: ColumnKinds;
  /** True when rows without an identifier are matched by their names. */
  isByName: boolean;
  /** False while the mapping that is shown is not the one that the rows were read with. */
  isCurrent: boolean;
  /** False while no column is mapped by which a row could match. */
  isUsable: boolean;
}

const nameKinds: ReadonlySet<string> = new Set(['person_name', 'name']);

export function FirstRows(props: FirstRowsProps) {
  const { subject, preview, columns, isByName, isCurrent, isUsable } = props;
  const isUsed = (column: number) => (columns.get(column) ? 'used' : '');
  const names = preview.columns.filter(({ column }) => nameKinds.has(columns.get(column) ?? ''));
  const hasName = ({ cells }: PreviewRow) =>
    isByName && names.some(({ column }) => (cells[column - 1] ?? '').trim() !== '');
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section class="table sheet" aria-label="First rows of the list" tabIndex={0}>
      <table aria-busy={isUsable && !isCurrent}>
        <caption class="unseen">The first rows, and what each is matched on</caption>
        <thead>
          <tr>
            <th scope="col">Matching on</th>
            {preview.columns.map(({ header, column }) => (
              <th key={column} scope="col" class={isUsed(column)}>
                {columnName({ header, column })}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {preview.rows.map((row) => (
            <tr key={row.row}>
              <th scope="row">
                {!isUsable && <Unusable reason="no_identifier" subject={subject} />}
                {isUsable && !isCurrent && '…'}
                {isUsable && isCurrent && (
                  <MatchedOn subject={subject} row={row} hasName={hasName(row)} />
                )}
              </th>
              {preview.columns.map(({ column }) => (
                <td key={column} class={isUsed(column)}>
                  <CellText text={row.cells[column - 1]} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface MatchedOnProps {
  subject: 'person' | 'company';
  row: PreviewRow;
  hasName: boolean;
}

function MatchedOn({ subject, row, hasName }: MatchedOnProps) {
  const { identifiers, invalid } = row;
  const found = Object.entries(identifiers);
  if (found.length === 0 && hasName) return <span class="soft">name</span>;
  if (found.length === 0) return <Unusable reason={invalid ?? 'no_identifier'} subject={subject} />;
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

function Unusable({ reason, subject }: { reason: string; subject: 'person' | 'company' }) {
  return <span class="error">{sayReason(reason, subject)}</span>;
}
