import { useEffect, useState } from 'preact/hooks';
import { columnsLastChosen } from '../batch/list-columns.ts';
import { findOperation } from '../batch/operations.ts';
import { PasteRows, pastedFile } from '../batch/paste-rows.tsx';
import {
  detected,
  type Reading,
  ReadingOptions,
  readingFields,
} from '../batch/reading-options.tsx';
import { TestList } from '../batch/test-list.tsx';
import { fileProblem, type UploadProgress } from '../batch/upload.ts';
import { useSending } from '../batch/use-sending.ts';
import { readOut } from '../components/announcer.tsx';
import { Button } from '../components/button.tsx';
import { DropZone } from '../components/drop-zone.tsx';
import { errorOf, restOf, SelectField } from '../components/field.tsx';
import { Form } from '../components/form.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { ProgressBar } from '../components/progress-bar.tsx';
import { countOf, formatBytes } from '../format.ts';
import { operations } from '../priced-operations.ts';
import type { Problem } from '../problem.ts';
import { linkTo } from '../router.ts';
import { session } from '../session.ts';
import { useStore } from '../store.ts';
import type { Action } from '../use-call.ts';

const ACCEPTED = '.csv,.tsv,.txt,.xlsx,.gz,text/csv,text/tab-separated-values,text/plain';

/** Chooses a list and sends it. All else can be changed when the service has it. */
export function NewBatchPage() {
  const [file, setFile] = useState<File | null>(null);
  const [pasted, setPasted] = useState('');
  const [operation, setOperation] = useState('people.enrich');
  const [reading, setReading] = useState<Reading>(detected);
  const [isFormatOpen, setIsFormatOpen] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const chosen = findOperation(operation);
  const { limits, key } = useStore(session) ?? {};
  const isTest = key?.mode === 'test';
  const bytes = limits?.upload_bytes;
  const limit = bytes === undefined ? '' : `, up to ${formatBytes(bytes)}`;
  const { sending, progress, stop } = useSending();
  // What is sent is what the page shows.
  useEffect(() => stop, [file, operation, reading]);
  const choose = (files: [File, ...File[]]) => {
    const [next] = files;
    const found = fileProblem(files);
    setProblem(found);
    sending.clear();
    setFile(found === null ? next : null);
    if (found !== null) return;
    setPasted('');
    readOut(`${next.name}, ${formatBytes(next.size)}`);
  };
  const paste = (text: string) => {
    setPasted(text);
    setProblem(null);
    sending.clear();
    setFile(pastedFile(text));
  };
  return (
    <>
      <PageHeader
        title="Upload a list"
        about="Nothing is charged until you have seen the price and started it."
        back={{ href: linkTo('/batches'), label: 'Lists' }}
      />
      <Form
        class="card narrow"
        problem={sending.problem}
        onSubmit={() => {
          if (file !== null) sending.run({ file, options: optionsOf(operation, reading) });
        }}
      >
        <OperationField value={operation} onChange={setOperation} />
        <DropZone
          label="List"
          prompt="Drop a list here"
          accept={ACCEPTED}
          hint={`CSV, TSV or Excel (.xlsx), also gzipped${limit}.`}
          file={file}
          onFiles={choose}
          error={problem?.message}
        />
        {chosen && isTest && <TestList operation={chosen} onFile={(made) => choose([made])} />}
        {chosen && <PasteRows operation={chosen} text={pasted} onText={paste} />}
        {/* A problem of a field opens it; it stays open while the field is changed. */}
        <details
          class="more-options"
          open={isFormatOpen || readingFields.some((name) => errorOf(sending.problem, name))}
          onToggle={(event) => setIsFormatOpen(event.currentTarget.open)}
        >
          <summary>File format</summary>
          <ReadingOptions reading={reading} onChange={setReading} problem={sending.problem} />
        </details>
        <Refusal sending={sending} />
        {sending.isBusy && <Sending progress={progress} />}
        <div class="buttons">
          <Button kind="primary" type="submit" isBusy={sending.isBusy} isDisabled={file === null}>
            {isRepeatable(sending.problem) ? 'Try again' : 'Continue'}
          </Button>
          {sending.isBusy && <Button onClick={stop}>Stop the upload</Button>}
        </div>
      </Form>
    </>
  );
}

function OperationField({ value, onChange }: { value: string; onChange(name: string): void }) {
  return (
    <SelectField
      id="operation"
      label="What should we add to your list?"
      value={value}
      onChange={onChange}
      options={operations.map(({ name, label, price }) => ({
        value: name,
        label: `${label} · ${countOf(price, 'credit')} per match`,
      }))}
      hint={findOperation(value)?.about}
    />
  );
}

/** True when the same file may be accepted next time. */
function isRepeatable(problem: Problem | null): boolean {
  return problem !== null && (problem.status === 0 || problem.status >= 429);
}

function Refusal({ sending: { problem } }: { sending: Action<never> }) {
  if (problem?.code === 'upload_stopped') return null;
  return <ProblemNotice problem={restOf(problem, readingFields)} />;
}

/** Query parameters of the upload; what is left to be detected is not sent. */
function optionsOf(operation: string, reading: Reading): Record<string, string> {
  const said = Object.entries(reading).filter(([, value]) => value.trim() !== '');
  const fields = columnsLastChosen(operation);
  return {
    operation,
    // A repeated person is charged once, unless the options say otherwise.
    dedupe: 'true',
    ...(fields === null ? {} : { fields: fields.join(',') }),
    ...Object.fromEntries(said),
  };
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
          ? 'Upload complete. Reading your file…'
          : `${formatBytes(sent)} of ${formatBytes(total)} sent`}
      </p>
    </div>
  );
}
