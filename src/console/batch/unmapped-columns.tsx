import type { Problem } from '../problem.ts';
import { columnKinds } from '../words.ts';
import { contextKinds, type Operation } from './operations.ts';

/** What a column looks like to the service, of a file in which it found nothing to look up. */
interface SeenColumn {
  column: number;
  header: string | null;
  content: string;
}

/** The columns that a refusal names because none of them could be read; none for another problem. */
export function unmappedColumns(problem: Problem | null): SeenColumn[] {
  const { columns } = problem?.more ?? {};
  return problem?.code === 'unmapped' && Array.isArray(columns) ? (columns as SeenColumn[]) : [];
}

interface UnmappedColumnsProps {
  columns: readonly SeenColumn[];
  operation: Operation;
  /** Kinds by column. */
  chosen: ReadonlyMap<number, string>;
  onChoose: (column: number, kind: string) => void;
}

/** Asks what each column holds. */
export function UnmappedColumns({ columns, operation, chosen, onChoose }: UnmappedColumnsProps) {
  return (
    <fieldset class="stack">
      <legend>What do the columns hold?</legend>
      <p class="notice warn" role="alert">
        Nothing to look up was found by the names of the columns and their first cells. Say which of
        them holds one of these: {operation.identifiers.map((kind) => columnKinds[kind]).join(', ')}
        .
      </p>
      <div class="fields">
        {columns.map(({ column, header, content }) => (
          <div class="field" key={column}>
            <label for={`column-${column}`}>{header || `Column ${column}`}</label>
            <select
              id={`column-${column}`}
              value={chosen.get(column) ?? ''}
              aria-describedby={`column-${column}-hint`}
              onChange={(event) => onChoose(column, event.currentTarget.value)}
            >
              <KindOptions operation={operation} />
            </select>
            <p class="hint" id={`column-${column}-hint`}>
              {content}
            </p>
          </div>
        ))}
      </div>
    </fieldset>
  );
}

/** What a column may hold, for an operation. */
export function KindOptions({ operation }: { operation: Operation }) {
  return (
    <>
      <option value="">Not used</option>
      <optgroup label="Looked up">
        {operation.identifiers.map((kind) => (
          <option key={kind} value={kind}>
            {columnKinds[kind]}
          </option>
        ))}
      </optgroup>
      <optgroup label="Helps to be sure">
        {contextKinds.map((kind) => (
          <option key={kind} value={kind}>
            {columnKinds[kind]}
          </option>
        ))}
      </optgroup>
    </>
  );
}
