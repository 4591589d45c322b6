import type { ComponentChildren } from 'preact';
import { countOf, formatNumber } from '../format.ts';
import { type Import, type ImportRun, reasonLabel } from './import-run.ts';

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

interface RejectsLinkProps {
  of: Pick<Import, 'id' | 'rejected' | 'run_id'>;
  children: ComponentChildren;
}

/** A download of the rejected rows of an import; its text alone where there are none to download. */
export function RejectsLink({ of: { id, rejected, run_id }, children }: RejectsLinkProps) {
  if (rejected === 0 || run_id === null) return <>{children}</>;
  return (
    <a
      href={`/admin/import-runs/${run_id}/rejects`}
      download
      title={`Download the rejected rows of import ${id}`}
    >
      {children}
    </a>
  );
}
