import { ProgressBar } from '../components/progress-bar.tsx';
import { countOf } from '../format.ts';
import type { ImportRun } from './import-run.ts';

/** The step that a worker is at. */
export function RunProgress({ run }: { run: ImportRun }) {
  return (
    <div class="stack tight">
      <ProgressBar label="Progress" value={null} max={1} />
      <p class="soft number" role="status">
        {wordsOf(run)}
      </p>
      <p class="hint">It continues when you close this page.</p>
    </div>
  );
}

function wordsOf({ progress, state }: ImportRun): string {
  if (progress?.step === 'waiting') return 'Waiting for another import to end…';
  if (state === 'undoing') return 'Undoing the import…';
  if (progress?.step === 'reading') return `${countOf(progress.count, 'row')} read`;
  if (progress?.step === 'building') {
    return `Building people and companies: ${countOf(progress.count, 'record')} left`;
  }
  return 'Waiting for a worker…';
}
