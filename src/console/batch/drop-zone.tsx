import { useState } from 'preact/hooks';
import { Icon } from '../components/icon.tsx';
import { formatBytes } from '../format.ts';
import { session } from '../session.ts';
import { useStore } from '../store.ts';

interface DropZoneProps {
  file: File | null;
  onFile: (file: File) => void;
  error: string | undefined;
}

const ACCEPTED = '.csv,.tsv,.txt,.xlsx,.gz,text/csv,text/tab-separated-values,text/plain';

/** Takes a file that is dropped or chosen; the input is a plain one for the keyboard. */
export function DropZone({ file, onFile, error }: DropZoneProps) {
  const [isOver, setIsOver] = useState(false);
  const bytes = useStore(session)?.limits.upload_bytes;
  const limit = bytes === undefined ? '' : `, up to ${formatBytes(bytes)}`;
  const take = (files: FileList | null | undefined) => {
    const [first] = files ?? [];
    if (first) onFile(first);
  };
  return (
    <div class="field">
      <label
        class={isOver ? 'drop over' : 'drop'}
        onDragOver={(event) => {
          event.preventDefault();
          setIsOver(true);
        }}
        onDragLeave={() => setIsOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setIsOver(false);
          take(event.dataTransfer?.files);
        }}
      >
        <Icon name={file === null ? 'upload' : 'file'} />
        {file === null ? (
          <span>
            <strong>Drop a list here</strong> or <span class="link">choose a file</span>
          </span>
        ) : (
          <span>
            <strong>{file.name}</strong> <span class="soft">{formatBytes(file.size)}</span>
            <br />
            <span class="link">Choose another file</span>
          </span>
        )}
        <input
          class="unseen"
          type="file"
          aria-label="List"
          accept={ACCEPTED}
          aria-describedby={error ? 'file-error file-hint' : 'file-hint'}
          aria-invalid={error !== undefined}
          onChange={(event) => {
            take(event.currentTarget.files);
            // So that the same file, changed meanwhile, can be chosen again.
            event.currentTarget.value = '';
          }}
        />
      </label>
      <p class="hint" id="file-hint">
        CSV, TSV or Excel (.xlsx), also gzipped{limit}.
      </p>
      {error && (
        <p class="error" id="file-error" role="alert">
          {error}
        </p>
      )}
    </div>
  );
}
