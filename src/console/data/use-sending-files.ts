/** The upload of the files of an import, one after the other. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { call } from '../api.ts';
import { newId } from '../attempts.ts';
import { checkFile, type KeyedFile, postFile, type UploadProgress } from '../batch/upload.ts';
import { announce, readOut } from '../components/announcer.tsx';
import { type Action, useAction } from '../use-call.ts';
import { useUnloadWarning } from '../use-unload-warning.ts';
import type { ImportRun } from './import-run.ts';

type Uploads = readonly KeyedFile[];

export interface SendingFiles {
  /** Sends files, or announces that others are still being sent. */
  send: (files: readonly File[]) => void;
  /** Sends the same files again, as the same uploads. */
  retry: () => void;
  sending: Action<Uploads>;
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
  const latest = useRef<Uploads>([]);
  const sending = useAction(async (uploads: Uploads) => {
    latest.current = uploads;
    controller.current = new AbortController();
    const { signal } = controller.current;
    setProgress(null);
    // A session that has ended is renewed before the files are sent and not after them.
    await call('GET', `${RUNS}?limit=1`);
    const total = uploads.reduce((sum, { file }) => sum + file.size, 0);
    let before = 0;
    let run: ImportRun | null = null;
    for (const upload of uploads) {
      const { file } = upload;
      await checkFile(file);
      const id: string | null = run?.id ?? runId;
      const path: string = `${id === null ? RUNS : `${RUNS}/${id}/files`}?name=${encodeURIComponent(file.name)}`;
      const onProgress = ({ sent }: UploadProgress) => setProgress({ sent: before + sent, total });
      run = await postFile<ImportRun>(path, upload, { onProgress, signal });
      before += file.size;
    }
    readOut('Upload complete.');
    if (run !== null) onDone(run);
  });
  useUnloadWarning(sending.isBusy);
  useEffect(() => () => controller.current?.abort(), []);
  const send = (files: readonly File[]) => {
    if (!sending.run(files.map((file) => ({ file, key: newId() }))))
      announce('Other files are still uploading. Add these when they are done.');
  };
  const retry = () => sending.run(latest.current);
  return { send, retry, sending, progress, stop: () => controller.current?.abort() };
}
