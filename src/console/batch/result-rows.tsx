/** The rows of a result: by outcome, by text, each with its record and the evidence for it. */
import { useEffect, useState } from 'preact/hooks';
import { Badge, type Tone } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { Icon } from '../components/icon.tsx';
import { Loading } from '../components/loading.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { countOf, formatNumber, inOrder } from '../format.ts';
import { asProblem, type Problem } from '../problem.ts';
import { sayKind, sayOutcome, sayReason } from '../words.ts';
import { type Batch, isFinal, type Outcome, outcomes } from './batch.ts';
import { foundColumns } from './found-columns.ts';
import { subjectOf } from './operations.ts';
import { readFirstRows } from './read-first-rows.ts';
import { inputNames, type ResultRow, RowRecord } from './row-record.tsx';

const PAGE_ROWS = 50;
const PAUSE_MS = 300;

interface ResultRowsProps {
  batch: Batch;
  /** True for the rows with the answers of the list's retries. */
  withReruns: boolean;
}

export function ResultRows({ batch, withReruns }: ResultRowsProps) {
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [search, setSearch] = useState('');
  const [count, setCount] = useState(PAGE_ROWS);
  const { rows, problem, isReading, isOld } = useRows(batch, {
    outcome,
    search,
    count,
    withReruns,
  });
  const tabs = outcomes.filter((name) => batch.rows[name] > 0);
  const choose = (next: Outcome | null) => {
    setOutcome(next);
    setCount(PAGE_ROWS);
  };
  return (
    <>
      <div class="row-filters">
        <fieldset class="pills">
          <legend class="unseen">Rows by outcome</legend>
          <Tab isOn={outcome === null} count={batch.rows.processed} onClick={() => choose(null)}>
            All
          </Tab>
          {tabs.map((name) => (
            <Tab
              key={name}
              isOn={outcome === name}
              // The counts of retries are not those of the list.
              count={withReruns ? null : batch.rows[name]}
              onClick={() => choose(name)}
            >
              {sayOutcome(name)}
            </Tab>
          ))}
        </fieldset>
        <input
          type="search"
          aria-label="Search in the rows"
          placeholder="Search in the rows"
          value={search}
          onInput={(event) => {
            setSearch(event.currentTarget.value);
            setCount(PAGE_ROWS);
          }}
        />
      </div>
      <ProblemNotice problem={problem} />
      {rows === null && problem === null && <Loading />}
      {rows?.length === 0 && !isOld && <p class="soft">No matching rows.</p>}
      {rows !== null && rows.length > 0 && <RowsTable batch={batch} rows={rows} isOld={isOld} />}
      {rows !== null && rows.length === count && (
        <div class="more">
          <Button isBusy={isReading} onClick={() => setCount(count + PAGE_ROWS)}>
            Show more rows
          </Button>
        </div>
      )}
    </>
  );
}

interface Wanted {
  outcome: Outcome | null;
  search: string;
  count: number;
  withReruns: boolean;
}

/** The first rows that are wanted. Those that were shown stay until they arrive, and are `isOld` meanwhile. */
function useRows(batch: Batch, { outcome, search, count, withReruns }: Wanted) {
  const [shown, setShown] = useState<{ wanted: string; rows: ResultRow[] } | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isReading, setIsReading] = useState(true);
  const query: Record<string, string> = {
    ...(outcome === null ? {} : { outcomes: outcome }),
    ...(search.trim() === '' ? {} : { search: search.trim() }),
    ...(withReruns ? { reruns: 'true' } : {}),
  };
  const wanted = `${new URLSearchParams(query)}`;
  const isEnough = (shown?.rows.length ?? 0) >= count;
  // While rows are still missing here, each change of the count reads again, after a reading that has not ended.
  const latest = isEnough || isFinal(batch.state) ? 'last' : batch.rows.processed;
  const [round, setRound] = useState(latest);
  useEffect(() => {
    if (!isReading) setRound(latest);
  }, [isReading, latest]);
  useEffect(() => {
    const gone = new AbortController();
    setIsReading(true);
    const timer = setTimeout(
      async () => {
        try {
          const path = `/v1/batches/${batch.id}`;
          const read = await readFirstRows<ResultRow>(path, count, gone.signal, query);
          if (gone.signal.aborted) return;
          setShown({ wanted, rows: read });
          setProblem(null);
        } catch (error) {
          if (gone.signal.aborted) return;
          setProblem(asProblem(error));
        }
        setIsReading(false);
      },
      search === '' ? 0 : PAUSE_MS,
    );
    return () => {
      gone.abort();
      clearTimeout(timer);
    };
  }, [batch.id, round, wanted, count]);
  return { rows: shown?.rows ?? null, problem, isReading, isOld: shown?.wanted !== wanted };
}

interface TabProps {
  isOn: boolean;
  count: number | null;
  onClick: () => void;
  children: string;
}

function Tab({ isOn, count, onClick, children }: TabProps) {
  return (
    <button type="button" class="pill" aria-pressed={isOn} onClick={onClick}>
      {children}
      {count !== null && <span class="number soft"> {formatNumber(count)}</span>}
    </button>
  );
}

const tones: Readonly<Record<string, Tone>> = {
  matched: 'good',
  ambiguous: 'warn',
  error: 'bad',
  invalid: 'bad',
};

/** Enough to know a row again. */
const OWN_COLUMNS_MAX = 2;

interface RowsTableProps {
  batch: Batch;
  rows: readonly ResultRow[];
  isOld: boolean;
}

function RowsTable({ batch, rows, isOld }: RowsTableProps) {
  const found = foundColumns(batch.operation).filter(({ cell }) =>
    rows.some((row) => cell(row) !== ''),
  );
  const own = ownColumns(batch);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section class="table people" aria-label="Rows of the result" tabIndex={0}>
      <table aria-busy={isOld}>
        <caption class="unseen">
          {countOf(rows.length, 'row')} of the result. Each number opens the whole row.
        </caption>
        <thead>
          <tr>
            <th scope="col">Row</th>
            <th scope="col">Outcome</th>
            {found.map(({ header }) => (
              <th key={header} scope="col">
                {header}
              </th>
            ))}
            <th scope="col">Matched on</th>
            {own.map((name) => (
              <th key={name} scope="col">
                Your “{inOrder(name)}”
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <RowLines
              key={row.row}
              batch={batch}
              row={row}
              found={found.map(({ cell }) => cell(row))}
              own={own.map((name) => row.input[name] ?? '')}
            />
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface RowLinesProps {
  batch: Batch;
  row: ResultRow;
  found: readonly string[];
  own: readonly string[];
}

/** A row, and below it its record when it is opened. */
function RowLines({ batch, row, found, own }: RowLinesProps) {
  const [isOpen, setIsOpen] = useState(false);
  const { status } = row.match;
  const further = [sayGrounds(batch, row), ...own];
  const isFound = found.some((cell) => cell !== '');
  return (
    <>
      <tr>
        <th scope="row">
          <button
            type="button"
            class="disclosure"
            aria-expanded={isOpen}
            aria-controls={`row-${row.row}`}
            aria-label={`Row ${row.row}`}
            onClick={() => setIsOpen(!isOpen)}
          >
            <Icon name="next" />
            {row.row}
          </button>
        </th>
        <td>
          <Badge tone={tones[status] ?? 'neutral'}>{sayOutcome(status)}</Badge>
        </td>
        {isFound &&
          found.map((cell, place) => (
            <td key={place}>
              <span class="cell">{inOrder(cell)}</span>
            </td>
          ))}
        {!isFound && found.length > 0 && (
          // The columns of the list may be out of sight: a row that found nothing is known by its own cells.
          <td colSpan={found.length}>
            <span class="cell soft">{inOrder(own.filter((cell) => cell !== '').join(' · '))}</span>
          </td>
        )}
        {further.map((cell, place) => (
          <td key={`further ${place}`}>
            <span class="cell soft">{inOrder(cell)}</span>
          </td>
        ))}
      </tr>
      <tr id={`row-${row.row}`} class="record-row" hidden={!isOpen}>
        <td class="record-cell" colSpan={found.length + further.length + 2}>
          {isOpen && <RowRecord batch={batch} row={row} />}
        </td>
      </tr>
    </>
  );
}

/** The identifier that the row matched on, or the reason why it could not match; a row without a match was only looked up. */
function sayGrounds({ operation }: Batch, { match: { status, by, reason } }: ResultRow): string {
  if (status === 'no_match') return '';
  if (by) return sayKind(by);
  return reason ? sayReason(reason, subjectOf(operation)) : '';
}

/** The names of the first columns of the list that were matched on. */
function ownColumns({ mapping, dialect }: Batch): string[] {
  const names = inputNames(dialect.header ?? []);
  return Object.values(mapping)
    .flat()
    .sort((one, other) => one.column - other.column)
    .slice(0, OWN_COLUMNS_MAX)
    .map(({ column }) => names[column - 1] ?? `column_${column}`);
}
