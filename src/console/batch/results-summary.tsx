/** The headline of a finished list: how many of its rows have what people look for. */
import { formatNumber, formatShare } from '../format.ts';
import type { Batch } from './batch.ts';
import { headlinesOf } from './headlines.ts';
import { subjectOf } from './operations.ts';
import type { ReportData } from './report.tsx';

interface SummaryProps {
  batch: Batch;
  report: ReportData;
}

export function ResultsSummary({ batch, report }: SummaryProps) {
  const { rows } = batch;
  const total = rows.total ?? 0;
  const found = headlinesOf(batch.operation, report.fill_rate);
  const usable = total - rows.invalid - rows.not_processed;
  const steps = [
    { label: 'Rows', count: total },
    { label: 'Usable', count: usable },
    { label: 'Matched', count: rows.matched },
    ...found
      .filter(({ column }) => funnelColumns.includes(column))
      .map(({ label, rate }) => ({
        label: `With ${label.toLowerCase()}`,
        count: Math.round(rate * rows.matched),
      })),
  ];
  if (rows.matched === 0) return null;
  return (
    <>
      {found.length > 0 && (
        <dl class="headlines">
          {found.map(({ column, label, rate }) => (
            <div key={column}>
              <dt>{label}</dt>
              <dd class="number">
                {formatShare(rate, 1)} <small class="soft">of matches</small>
              </dd>
              <dd>
                <meter min={0} max={1} value={rate} aria-label={`${label} of the matches`} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      <h3>
        From rows to {subjectOf(batch.operation) === 'person' ? 'contacts' : 'companies'}, as shares
        of all rows
      </h3>
      <ol class="funnel">
        {steps.map(({ label, count }) => (
          <li key={label}>
            <span>{label}</span>
            <span class="funnel-bar" aria-hidden="true">
              <span style={{ width: `${total === 0 ? 0 : (count / total) * 100}%` }} />
            </span>
            <span class="number">
              {formatNumber(count)} <span class="soft">{formatShare(count, total)}</span>
            </span>
          </li>
        ))}
      </ol>
    </>
  );
}

const funnelColumns: readonly string[] = [
  ...['person.workEmail', 'email.address', 'person.mobile', 'company.phone'],
];
