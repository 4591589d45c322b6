import { useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { download } from '../download.ts';
import { useAction } from '../use-call.ts';
import type { Progress } from './batch.ts';
import type { Live } from './use-live-batch.ts';

const formats = [
  { format: 'xlsx', label: 'Excel (.xlsx)', about: 'Opens in Excel, Numbers and LibreOffice.' },
  {
    format: 'csv-safe',
    label: 'CSV for spreadsheets',
    about: 'Formulas are disabled so the file is safe to open in Excel or Sheets.',
  },
  { format: 'csv', label: 'CSV, unchanged', about: 'Every cell as it is, for CRMs and programs.' },
  { format: 'jsonl', label: 'JSON Lines', about: 'One row per line, for programs.' },
] as const;

type Format = (typeof formats)[number]['format'];

interface DownloadsProps<Item extends Progress> {
  /** Of the list or export. */
  path: string;
  /** The list or export, which may have been deleted elsewhere. */
  live: Live<Item>;
  /** Further parameters of the file. */
  query?: Readonly<Record<string, string>>;
  isComplete: boolean;
  /** Why no workbook can hold them, where that is known. */
  notAsXlsx?: string | null;
}

/** The results as a file, in the format that is chosen. */
export function Downloads<Item extends Progress>(props: DownloadsProps<Item>) {
  const { path, live, query = {}, isComplete, notAsXlsx = null } = props;
  const offered = formats.filter(({ format }) => format !== 'xlsx' || notAsXlsx === null);
  const [chosen, setChosen] = useState<Format>(offered[0]?.format ?? 'csv-safe');
  const downloading = useAction(async () => {
    const href = `${path}/results?${new URLSearchParams({ format: chosen, ...query })}`;
    await download(href, path, (now: Item) => {
      live.show(now);
      return now.files_deleted_at === null;
    });
  });
  return (
    <>
      <div class="downloads">
        <select
          aria-label="Format of the file"
          value={chosen}
          onChange={(event) => setChosen(event.currentTarget.value as Format)}
        >
          {offered.map(({ format, label }) => (
            <option key={format} value={format}>
              {label}
            </option>
          ))}
        </select>
        <Button
          kind="primary"
          icon="download"
          isBusy={downloading.isBusy}
          onClick={() => downloading.run()}
        >
          Download
        </Button>
      </div>
      <p class="hint">
        {offered.find(({ format }) => format === chosen)?.about}
        {!isComplete && ' Not complete yet: the download includes the rows finished so far.'}
      </p>
      {notAsXlsx !== null && (
        <p class="hint">Not available as an Excel workbook: {notAsXlsx}. CSV holds every cell.</p>
      )}
      <ProblemNotice problem={downloading.problem} />
    </>
  );
}
