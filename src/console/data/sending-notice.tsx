import { Button } from '../components/button.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { ProgressBar } from '../components/progress-bar.tsx';
import { formatBytes } from '../format.ts';
import type { SendingFiles } from './use-sending-files.ts';

/** The progress of an upload, or what went wrong with it. */
export function SendingNotice({ sending, retry, progress, stop }: SendingFiles) {
  const { problem } = sending;
  return (
    <>
      <ProblemNotice
        problem={problem?.code === 'upload_stopped' ? null : problem}
        onRetry={retry}
      />
      {sending.isBusy && (
        <div class="stack tight">
          <ProgressBar label="Upload" value={progress?.sent ?? null} max={progress?.total ?? 1} />
          <p class="soft number">
            {progress === null
              ? 'Starting the upload…'
              : `${formatBytes(progress.sent)} of ${formatBytes(progress.total)} sent`}
          </p>
          <div class="buttons">
            <Button onClick={stop}>Stop the upload</Button>
          </div>
        </div>
      )}
    </>
  );
}
