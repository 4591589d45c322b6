/** The headline of a finished list: how many of its rows have what people look for. */
import { formatNumber, formatShare } from '../format.ts';
import type { Batch } from './batch.ts';
import { subjectOf } from './operations.ts';
import type { ReportData } from './report.tsx';

/** The columns that people look for first, by their name in a file. */
const headlines: Readonly<Record<'person' | 'company', Readonly<Record<string, string>>>> = {
  person: {
    'person.workEmail': 'Work email',
    'email.address': 'Work email',
    'person.email': 'Email',
    'person.mobile': 'Mobile',
    'person.phone': 'Phone',
    'person.professional_network': 'Profile',
  },
  company: {
    'company.domain': 'Domain',
    'company.phone': 'Phone',
    'company.email': 'Email',
    'company.professional_network': 'Profile',
    'company.employees': 'Employees',
    'company.logo_url': 'Logo',
    'financials.revenue': 'Revenue',
  },
};

interface SummaryProps {
  batch: Batch;
  report: ReportData;
}

export function ResultsSummary({ batch, report }: SummaryProps) {
  const { rows } = batch;
  const total = rows.total ?? 0;
  const found = Object.entries(headlines[subjectOf(batch.operation)]).flatMap(([column, label]) => {
    const rate = report.fill_rate[column];
    return rate === undefined ? [] : [{ column, label, rate }];
  });
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
              <dd class="number">{formatShare(rate, 1)}</dd>
              <dd>
                <meter min={0} max={1} value={rate} aria-label={`${label} of the matches`} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      <h3>From rows to contacts</h3>
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
