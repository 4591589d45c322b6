/** The upload of a file, one at a time: its progress, and what it needs to be repeated. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { readOut } from '../components/announcer.tsx';
import { type Action, useAction } from '../use-call.ts';
import { useUnloadWarning } from '../use-unload-warning.ts';
import { newUpload, sendUpload, type Upload, type UploadProgress } from './upload.ts';

interface Sending {
  sending: Action<Pick<Upload, 'file' | 'options'>>;
  /** Null before the first bytes were sent. */
  progress: UploadProgress | null;
  stop: () => void;
}

/** Sends files one at a time. The same file with the same options is the same upload, however often. */
export function useSending(onDone: (batchId: string) => void): Sending {
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
    readOut('Upload complete.');
    onDone(batch.id);
  });
  useUnloadWarning(sending.isBusy);
  // Leaving the page ends the upload.
  useEffect(() => () => controller.current?.abort(), []);
  return { sending, progress, stop: () => controller.current?.abort() };
}
