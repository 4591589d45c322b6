import { call } from '../api.ts';
import { Button } from '../components/button.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { useAction } from '../use-call.ts';

const formats = [
  { format: 'xlsx', label: 'Excel', about: 'a workbook' },
  { format: 'csv', label: 'CSV', about: 'every cell as it is' },
  { format: 'jsonl', label: 'JSON lines', about: 'for programs' },
] as const;

interface DownloadsProps {
  /** Of the batch or export. */
  path: string;
  isComplete: boolean;
}

/** The results as files. The first button's file is safe to open in a spreadsheet. */
export function Downloads({ path, isComplete }: DownloadsProps) {
  const downloading = useAction(async (format: string) => {
    // Says what is wrong on this page, where a link would leave it.
    await call('GET', path);
    const link = document.createElement('a');
    link.href = `${path}/results?format=${format}`;
    link.download = '';
    link.click();
  });
  return (
    <>
      <div class="downloads">
        <Button
          kind="primary"
          icon="download"
          isBusy={downloading.isBusy}
          onClick={() => downloading.run('csv-safe')}
        >
          Download for spreadsheets
        </Button>
        {formats.map(({ format, label, about }) => (
          <Button key={format} onClick={() => downloading.run(format)}>
            {label} <span class="unseen">({about})</span>
          </Button>
        ))}
      </div>
      <p class="hint">
        The first is CSV in which no cell can run as a formula.
        {!isComplete && ' More rows are to come: a file has those that are done.'}
      </p>
      <ProblemNotice problem={downloading.problem} />
    </>
  );
}
