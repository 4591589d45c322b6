import { ProblemNotice } from '../components/problem-notice.tsx';
import { Table } from '../components/table.tsx';
import { countOf, formatNumber, formatShare } from '../format.ts';
import { useResource } from '../use-call.ts';
import { sayKind, sayReason } from '../words.ts';
import type { Batch } from './batch.ts';

interface ReportData {
  rows: number;
  blank_lines: number;
  padded_rows: number;
  rows_read_as_windows_1252: number;
  repaired: Record<string, number>;
  unusable: Record<string, { rows: number; lines: number[] }>;
  agrees: Record<string, number>;
  fill_rate: Record<string, number>;
}

/** What was found out about the list: rows that could not be used, repairs, how full the answers are. */
export function Report({ batch }: { batch: Batch }) {
  const { data, problem, reload } = useResource<ReportData>(`/v1/batches/${batch.id}/report`);
  return (
    <section class="card stack tight" aria-labelledby="report-title">
      <h2 id="report-title">About this list</h2>
      <ProblemNotice problem={problem} onRetry={reload} />
      {data && (
        <>
          <Notes data={data} isStrict={batch.require_agreement} />
          <Unusable data={data} />
          <FillRates data={data} />
        </>
      )}
    </section>
  );
}

/** With `isStrict` rows whose name is another one are misses, and only counted where they are some of many. */
function Notes({ data, isStrict }: { data: ReportData; isStrict: boolean }) {
  const { yes = 0, no, unknown = 0 } = data.agrees;
  const matches = yes + unknown + (isStrict ? 0 : (no ?? 0));
  const notes = [
    matches > 0 &&
      `In ${formatShare(yes, matches)} of the matches the name in the list agrees with the record.`,
    !isStrict &&
      matches > 0 &&
      `In ${countOf(no ?? 0, 'row')} it is another one (column match.agrees).`,
    isStrict &&
      (no === undefined
        ? 'Rows whose record has another name are no matches, and are not counted here.'
        : `${countOf(no, 'row is', 'rows are')} no match because the record has another name.`),
    data.rows_read_as_windows_1252 > 0 &&
      `${countOf(data.rows_read_as_windows_1252, 'row was', 'rows were')} no UTF-8 and read as Windows-1252.`,
    data.padded_rows > 0 &&
      `${countOf(data.padded_rows, 'row was', 'rows were')} shorter than the widest.`,
    data.blank_lines > 0 &&
      `${countOf(data.blank_lines, 'blank line')} stay where they were, and are no rows.`,
    ...Object.entries(data.repaired).map(
      ([kind, rows]) => `${sayKind(kind)}: ${countOf(rows, 'damaged value')} could be repaired.`,
    ),
  ].filter((note) => note !== false);
  if (notes.length === 0) return null;
  return (
    <ul class="notes">
      {notes.map((note) => (
        <li key={note}>{note}</li>
      ))}
    </ul>
  );
}

function Unusable({ data }: { data: ReportData }) {
  const reasons = Object.entries(data.unusable).sort(([, one], [, other]) => other.rows - one.rows);
  if (reasons.length === 0) return null;
  return (
    <>
      <h3>Rows that could not be used</h3>
      <Table
        caption="Rows that could not be used"
        rows={reasons}
        keyOf={([reason]) => reason}
        columns={[
          { header: 'Because', cell: ([reason]) => sayReason(reason) },
          { header: 'Rows', isNumber: true, cell: ([, { rows }]) => formatNumber(rows) },
          {
            header: 'First lines of the file',
            cell: ([, { lines, rows }]) =>
              `${lines.slice(0, 8).map(formatNumber).join(', ')}${rows > 8 ? ' …' : ''}`,
          },
        ]}
      />
    </>
  );
}

/** How many of the matches have each column. */
export function FillRates({ data }: { data: Pick<ReportData, 'fill_rate'> }) {
  const rates = Object.entries(data.fill_rate).sort(([, one], [, other]) => other - one);
  if (rates.length === 0) return null;
  return (
    <details class="more-options">
      <summary>How full the columns are</summary>
      <ul class="rates">
        {rates.map(([column, rate]) => (
          <li key={column}>
            <span>{column}</span>
            <meter min={0} max={1} value={rate} aria-label={column} />
            <span class="number">{formatShare(rate, 1)}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}
