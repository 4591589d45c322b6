import { type Column, Table } from '../components/table.tsx';
import { countOf, formatNumber, formatShare } from '../format.ts';
import { fieldLabel } from '../search/person-fields.ts';
import { sayKind, sayReason } from '../words.ts';
import { sayAgreement } from './agreement-notes.ts';
import type { Batch } from './batch.ts';
import { subjectOf } from './operations.ts';
import { sayWidths } from './width-note.ts';

export interface ReportData {
  rows: number;
  blank_lines: number;
  padded_rows: number;
  rows_read_as_windows_1252: number;
  repaired: Record<string, number>;
  unusable: Record<string, { rows: number; lines: number[] }>;
  agrees: Record<string, number>;
  matched_by: Record<string, number>;
  fill_rate: Record<string, number>;
}

/** The report of a list: rows that could not be used, repairs, fill rates of every column. */
export function Report({ batch, data }: { batch: Batch; data: ReportData }) {
  return (
    <section class="card stack tight" aria-labelledby="report-title">
      <h2 id="report-title">About this list</h2>
      <Notes data={data} isStrict={batch.require_agreement} />
      <Unusable data={data} batch={batch} />
      <FillRates data={data} />
    </section>
  );
}

function Notes({ data, isStrict }: { data: ReportData; isStrict: boolean }) {
  const sources = Object.entries(data.matched_by).sort(([, one], [, other]) => other - one);
  const matched = sources.reduce((sum, [, rows]) => sum + rows, 0);
  const notes = [
    matched > 0 &&
      `Matched on: ${sources.map(([by, rows]) => `${sayKind(by)} ${formatShare(rows, matched)}`).join(', ')}.`,
    ...sayAgreement(data.agrees, isStrict),
    data.rows_read_as_windows_1252 > 0 &&
      `${countOf(data.rows_read_as_windows_1252, 'row wasn’t', 'rows weren’t')} valid UTF-8, so we read ${data.rows_read_as_windows_1252 === 1 ? 'it' : 'them'} as Windows-1252.`,
    sayWidths(data.rows, data.padded_rows),
    data.blank_lines > 0 &&
      `${countOf(data.blank_lines, 'blank line')} kept as ${data.blank_lines === 1 ? 'it was' : 'they were'} (not counted as rows).`,
    ...Object.entries(data.repaired).map(
      ([kind, rows]) => `${sayKind(kind)}: ${countOf(rows, 'damaged value')} repaired.`,
    ),
  ].filter((note) => typeof note === 'string');
  if (notes.length === 0) return null;
  return (
    <ul class="notes">
      {notes.map((note) => (
        <li key={note}>{note}</li>
      ))}
    </ul>
  );
}

function Unusable({ data, batch }: { data: ReportData; batch: Batch }) {
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
          { header: 'Reason', cell: ([reason]) => sayReason(reason, subjectOf(batch.operation)) },
          { header: 'Rows', isNumber: true, cell: ([, { rows }]) => formatNumber(rows) },
          // The file of a retry is one that only the service has.
          ...(batch.rerun_of === null ? [lineNumbers] : []),
        ]}
      />
    </>
  );
}

const lineNumbers: Column<[string, { rows: number; lines: number[] }]> = {
  header: 'Lines of the file',
  cell: ([, { lines, rows }]) =>
    `${lines.slice(0, 8).map(formatNumber).join(', ')}${rows > 8 ? '…' : ''}`,
};

/** The share of the matches that have each column. */
export function FillRates({ data }: { data: Pick<ReportData, 'fill_rate'> }) {
  const rates = Object.entries(data.fill_rate).sort(([, one], [, other]) => other - one);
  if (rates.length === 0) return null;
  return (
    <details class="more-options">
      <summary>Fill rates of all columns, as shares of the matches</summary>
      <ul class="rates">
        {rates.map(([column, rate]) => (
          <li key={column}>
            <span>{columnLabel(column)}</span>
            <meter min={0} max={1} value={rate} aria-label={columnLabel(column)} />
            <span class="number">{formatShare(rate, 1)}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** `Work email` for `person.workEmail`; the name of the column where it has no other. */
function columnLabel(column: string): string {
  const name = column.slice(column.indexOf('.') + 1);
  return column.startsWith('person.') ? fieldLabel(name) : column;
}
