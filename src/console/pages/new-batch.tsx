import { useEffect, useRef, useState } from 'preact/hooks';
import { call } from '../api.ts';
import { DropZone } from '../batch/drop-zone.tsx';
import { findOperation } from '../batch/operations.ts';
import { guessed, type Reading, ReadingOptions } from '../batch/reading-options.tsx';
import { UnmappedColumns, unmappedColumns } from '../batch/unmapped-columns.tsx';
import {
  fileProblem,
  lastUpload,
  newUpload,
  sendUpload,
  type Upload,
  type UploadProgress,
} from '../batch/upload.ts';
import { readOut } from '../components/announcer.tsx';
import { Button } from '../components/button.tsx';
import { restOf, SelectField } from '../components/field.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { ProgressBar } from '../components/progress-bar.tsx';
import { countOf, formatBytes } from '../format.ts';
import type { PageProps } from '../page.ts';
import { operations } from '../priced-operations.ts';
import type { Problem } from '../problem.ts';
import { goTo, linkTo } from '../router.ts';
import { useAction } from '../use-call.ts';

/** What the form fields show by themselves. */
const shownFields = ['encoding', 'delimiter', 'header_row', 'sheet', 'default_region'];

/** Chooses a list and sends it. With `again` it is the file of that batch, to be read in another way. */
export function NewBatchPage({ query }: PageProps) {
  const again = query.get('again');
  const before =
    again !== null && lastUpload.current?.batchId === again ? lastUpload.current : null;
  const {
    encoding = '',
    delimiter = '',
    header_row = '',
    sheet = '',
    default_region = '',
  } = before?.upload.options ?? {};
  const [file, setFile] = useState<File | null>(before?.upload.file ?? null);
  const [operation, setOperation] = useState(before?.upload.options.operation ?? 'people.enrich');
  const [reading, setReading] = useState<Reading>({
    encoding,
    delimiter,
    header_row,
    sheet,
    default_region,
  });
  const [chosen, setChosen] = useState<ReadonlyMap<number, string>>(new Map());
  const [problem, setProblem] = useState<Problem | null>(null);
  const { sending, progress, stop } = useSending(async (batchId) => {
    // The list that was read in the wrong way is not wanted any more.
    if (before !== null) await call('DELETE', `/v1/batches/${before.batchId}`).catch(() => {});
    goTo(`/batches/${batchId}`);
  });
  const asked = findOperation(operation) ?? operations[0];
  const columns = unmappedColumns(sending.problem);
  const isRefused = sending.problem !== null && sending.problem.code !== 'upload_stopped';

  const choose = (next: File) => {
    const found = fileProblem(next);
    setProblem(found);
    sending.clear();
    setChosen(new Map());
    setFile(found === null ? next : null);
    if (found === null) readOut(`${next.name}, ${formatBytes(next.size)}`);
  };
  const submit = () => {
    if (file !== null) sending.run({ file, options: optionsOf(operation, reading, chosen) });
  };
  return (
    <>
      <PageHeader
        title={again === null ? 'Upload a list' : 'Read the list in another way'}
        about="Nothing is charged until you have seen the price and started it."
        back={{ href: linkTo('/batches'), label: 'Batches' }}
      />
      <form
        class="card narrow"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <SelectField
          id="operation"
          label="What do you want to know?"
          value={operation}
          onChange={setOperation}
          options={operations.map(({ name, label, price }) => ({
            value: name,
            label: `${label} (${countOf(price, 'credit')} a match)`,
          }))}
          hint={asked?.about}
        />
        <DropZone file={file} onFile={choose} error={problem?.message} />
        <details class="more-options" open={again !== null}>
          <summary>Reading options</summary>
          <ReadingOptions reading={reading} onChange={setReading} problem={sending.problem} />
        </details>
        {isRefused && columns.length === 0 && (
          <ProblemNotice problem={restOf(sending.problem, shownFields)} />
        )}
        {columns.length > 0 && asked && (
          <UnmappedColumns
            columns={columns}
            operation={asked}
            chosen={chosen}
            onChoose={(column, kind) => setChosen(new Map(chosen).set(column, kind))}
          />
        )}
        {sending.isBusy && <Sending progress={progress} />}
        <div class="buttons">
          <Button kind="primary" type="submit" isBusy={sending.isBusy} isDisabled={file === null}>
            {sendLabel(columns.length > 0, isRefused)}
          </Button>
          {sending.isBusy && <Button onClick={stop}>Stop the upload</Button>}
        </div>
      </form>
    </>
  );
}

function sendLabel(isAsked: boolean, isRefused: boolean): string {
  if (isAsked) return 'Upload with these columns';
  return isRefused ? 'Try again' : 'Upload and check';
}

/** Query parameters of the upload; what is left to the guess is not sent. */
function optionsOf(
  operation: string,
  reading: Reading,
  chosen: ReadonlyMap<number, string>,
): Record<string, string> {
  const mapping: Record<string, number[]> = {};
  for (const [column, kind] of chosen)
    if (kind !== '') mapping[kind] = [...(mapping[kind] ?? []), column];
  const said = Object.entries({ ...guessed, ...reading }).filter(
    ([, value]) => value.trim() !== '',
  );
  return {
    operation,
    ...Object.fromEntries(said),
    ...(Object.keys(mapping).length === 0 ? {} : { mapping: JSON.stringify(mapping) }),
  };
}

/** Sends files one at a time. The same file with the same options is the same upload, however often. */
function useSending(onDone: (batchId: string) => Promise<void>) {
  const [progress, setProgress] = useState<UploadProgress | null>(null);
  const controller = useRef<AbortController | null>(null);
  const latest = useRef<Upload | null>(null);
  const sending = useAction(async (wanted: Pick<Upload, 'file' | 'options'>) => {
    const isSame =
      latest.current?.file === wanted.file &&
      JSON.stringify(latest.current.options) === JSON.stringify(wanted.options);
    const upload =
      isSame && latest.current ? latest.current : newUpload(wanted.file, wanted.options);
    latest.current = upload;
    controller.current = new AbortController();
    setProgress(null);
    const batch = await sendUpload(upload, setProgress, controller.current.signal);
    readOut('The list has arrived.');
    await onDone(batch.id);
  });
  const { isBusy } = sending;
  useEffect(() => {
    if (!isBusy) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', warn);
    return () => removeEventListener('beforeunload', warn);
  }, [isBusy]);
  // Who leaves the page does not want the list any more.
  useEffect(() => () => controller.current?.abort(), []);
  return { sending, progress, stop: () => controller.current?.abort() };
}

function Sending({ progress }: { progress: UploadProgress | null }) {
  if (progress === null) return <ProgressBar label="Upload" value={null} max={1} />;
  const { sent, total } = progress;
  const isSent = sent === total;
  return (
    <div class="stack tight">
      <ProgressBar label="Upload" value={isSent ? null : sent} max={total} />
      <p class="soft number">
        {isSent
          ? 'Sent. The list is being looked at …'
          : `${formatBytes(sent)} of ${formatBytes(total)} sent`}
      </p>
    </div>
  );
}
