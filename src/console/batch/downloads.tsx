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
  /** Why no workbook can hold them, where that is known. */
  notAsXlsx?: string | null;
}

/** The results as files. The first button's file is safe to open in a spreadsheet. */
export function Downloads({ path, isComplete, notAsXlsx = null }: DownloadsProps) {
  const downloading = useAction(async (format: string) => {
    // Says what is wrong on this page, where a link would leave it.
    await call('GET', path);
    const link = document.createElement('a');
    link.href = `${path}/results?format=${format}`;
    link.download = '';
    link.click();
  });
  const offered = formats.filter(({ format }) => format !== 'xlsx' || notAsXlsx === null);
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
        {offered.map(({ format, label, about }) => (
          <Button key={format} onClick={() => downloading.run(format)}>
            {label} <span class="unseen">({about})</span>
          </Button>
        ))}
      </div>
      <p class="hint">
        The first is CSV in which no cell can run as a formula.
        {!isComplete && ' More rows are to come: a file has those that are done.'}
      </p>
      {notAsXlsx !== null && (
        <p class="hint">Not available as an Excel workbook: {notAsXlsx}. CSV holds every cell.</p>
      )}
      <ProblemNotice problem={downloading.problem} />
    </>
  );
}
