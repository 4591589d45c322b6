import { useEffect, useState } from 'preact/hooks';
import { Badge, type Tone } from '../components/badge.tsx';
import { Loading } from '../components/loading.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { type Column, Table } from '../components/table.tsx';
import { countOf } from '../format.ts';
import { asProblem, type Problem } from '../problem.ts';
import { sayKind, sayOutcome, sayReason } from '../words.ts';
import { type Batch, isFinal } from './batch.ts';
import { type FoundRecord, foundColumns } from './found-columns.ts';
import { readFirstRows } from './read-first-rows.ts';

const SHOWN_ROWS = 50;

interface ResultRow extends FoundRecord {
  row: number;
  input: Record<string, string>;
  match: { status: string; by: string | null; reason: string | null; conflict: boolean };
}

const tones: Record<string, Tone> = {
  matched: 'good',
  ambiguous: 'warn',
  error: 'bad',
  invalid: 'bad',
};

/** The first rows of the result. Only their lines are read, however long the file is. */
export function ResultPreview({ batch }: { batch: Batch }) {
  const [rows, setRows] = useState<ResultRow[] | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const isEnough = (rows?.length ?? 0) >= SHOWN_ROWS;
  // While rows are still missing here, each change of the count reads again.
  const round = isEnough || isFinal(batch.state) ? 'last' : batch.rows.processed;
  useEffect(() => {
    const gone = new AbortController();
    readFirstRows<ResultRow>(`/v1/batches/${batch.id}`, SHOWN_ROWS, gone.signal).then(
      setRows,
      (error) => {
        if (!gone.signal.aborted) setProblem(asProblem(error));
      },
    );
    return () => gone.abort();
  }, [batch.id, round]);
  if (problem !== null) return <ProblemNotice problem={problem} />;
  if (rows === null) return <Loading />;
  return (
    <>
      <Table
        caption={`The first ${countOf(rows.length, 'row')}`}
        rows={rows}
        keyOf={({ row }) => String(row)}
        columns={[...rowColumns, ...ownColumns(batch), by, ...foundColumns(batch.operation)]}
      />
      <p class="hint">The first {countOf(rows.length, 'row')}. The files have every column.</p>
    </>
  );
}

const rowColumns: Column<ResultRow>[] = [
  { header: 'Row', isNumber: true, cell: ({ row }) => row },
  {
    header: 'Outcome',
    cell: ({ match: { status } }) => (
      <Badge tone={tones[status] ?? 'neutral'}>{sayOutcome(status)}</Badge>
    ),
  },
];

const by: Column<ResultRow> = {
  header: 'By',
  cell: ({ match }) => {
    if (match.by) return sayKind(match.by);
    return match.reason ? sayReason(match.reason) : '';
  },
};

/** Enough to know a row again. */
const OWN_COLUMNS_MAX = 2;

/** The first columns of the list that were read. */
function ownColumns({ mapping, dialect }: Batch): Column<ResultRow>[] {
  const names = inputNames(dialect.header ?? []);
  return Object.values(mapping)
    .flat()
    .sort((one, other) => one.column - other.column)
    .slice(0, OWN_COLUMNS_MAX)
    .map(({ column }) => {
      const name = names[column - 1] ?? `column_${column}`;
      return {
        header: `Your “${name}”`,
        cell: ({ input }) => <span class="cell soft">{input[name]}</span>,
      };
    });
}

/** The names of the list's columns in JSON lines, where no two may be alike and none is empty. */
function inputNames(header: readonly string[]): string[] {
  const taken = new Set<string>();
  return header.map((given, index) => {
    const base = given === '' ? `column_${index + 1}` : given;
    let name = base;
    for (let copy = 2; taken.has(name); copy++) name = `${base}_${copy}`;
    taken.add(name);
    return name;
  });
}
