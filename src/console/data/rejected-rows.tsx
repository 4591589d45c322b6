import { countOf, formatNumber } from '../format.ts';
import { type ImportRun, reasonLabel } from './import-run.ts';

/** The rejected rows by reason, and their file. */
export function RejectedRows({ run, path }: { run: ImportRun; path: string }) {
  const rejected = run.counts?.rejected ?? 0;
  if (rejected === 0) return null;
  return (
    <details class="more-options">
      <summary>{countOf(rejected, 'rejected row')}</summary>
      <div class="stack tight">
        <ul class="plain">
          {Object.entries(run.reasons ?? {}).map(([reason, count]) => (
            <li key={reason}>
              {reasonLabel(reason)}: <span class="number">{formatNumber(count)}</span>
            </li>
          ))}
        </ul>
        <p>
          <a href={`${path}/rejects`} download>
            Download them with line and reason
          </a>
        </p>
      </div>
    </details>
  );
}
