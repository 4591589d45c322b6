import { useState } from 'preact/hooks';
import { formatBytes } from '../format.ts';
import { Icon } from './icon.tsx';

interface DropZoneProps {
  /** The name of the input. */
  label: string;
  /** `Drop a list here`. */
  prompt: string;
  /** Kinds of files, as an input of a form takes them. */
  accept: string;
  hint: string;
  /** The file that is shown as chosen. */
  file: File | null;
  /** True to let the file dialog choose several. A drop may always bring several. */
  takesMany?: boolean;
  onFiles: (files: [File, ...File[]]) => void;
  error: string | undefined;
}

/** Takes files that are dropped or chosen; the input is a plain one for the keyboard. */
export function DropZone(props: DropZoneProps) {
  const { label, prompt, accept, hint, file, takesMany = false, onFiles, error } = props;
  const [isOver, setIsOver] = useState(false);
  const take = (list: FileList | null | undefined) => {
    const [first, ...others] = list ?? [];
    if (first !== undefined) onFiles([first, ...others]);
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
            <strong>{prompt}</strong> or <span class="link">choose a file</span>
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
          aria-label={label}
          accept={accept}
          multiple={takesMany}
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
        {hint}
      </p>
      {error && (
        <p class="error" id="file-error" role="alert">
          {error}
        </p>
      )}
    </div>
  );
}
