/** The upload of the files of an import, one after the other. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { call, newId, whileSignedIn } from '../api.ts';
import { checkFile, postFile, type UploadProgress } from '../batch/upload.ts';
import { announce, readOut } from '../components/announcer.tsx';
import { type Action, useAction } from '../use-call.ts';
import { useUnloadWarning } from '../use-unload-warning.ts';
import type { ImportRun } from './import-run.ts';

export interface SendingFiles {
  /** Sends files, or announces that others are still being sent. */
  send: (files: readonly File[]) => void;
  sending: Action<readonly File[]>;
  /** Of all files; null before the first bytes were sent. */
  progress: UploadProgress | null;
  stop: () => void;
}

const RUNS = '/admin/import-runs';

/** Sends files as a new import, or as further parts of one. */
export function useSendingFiles(
  runId: string | null,
  onDone: (run: ImportRun) => void,
): SendingFiles {
  const [progress, setProgress] = useState<UploadProgress | null>(null);
  const controller = useRef<AbortController | null>(null);
  const sending = useAction(async (files: readonly File[]) => {
    controller.current = new AbortController();
    const { signal } = controller.current;
    setProgress(null);
    // A session that has ended is renewed before the files are sent and not after them.
    await call('GET', `${RUNS}?limit=1`);
    const total = files.reduce((sum, file) => sum + file.size, 0);
    let before = 0;
    let run: ImportRun | null = null;
    for (const file of files) {
      await checkFile(file);
      const id: string | null = run?.id ?? runId;
      const path = `${id === null ? RUNS : `${RUNS}/${id}/files`}?name=${encodeURIComponent(file.name)}`;
      const upload = { file, idempotencyKey: newId() };
      const onProgress = ({ sent }: UploadProgress) => setProgress({ sent: before + sent, total });
      const response = await whileSignedIn((shown) =>
        postFile(path, upload, { shown, onProgress, signal }),
      );
      run = (await response.json()) as ImportRun;
      before += file.size;
    }
    readOut('Upload complete.');
    if (run !== null) onDone(run);
  });
  useUnloadWarning(sending.isBusy);
  useEffect(() => () => controller.current?.abort(), []);
  const send = (files: readonly File[]) => {
    if (!sending.run(files))
      announce('Other files are still uploading. Add these when they are done.');
  };
  return { send, sending, progress, stop: () => controller.current?.abort() };
}
