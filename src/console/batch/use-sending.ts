/** The upload of a file, one at a time: its progress, and what it needs to be repeated. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { announceEarlier, readOut } from '../components/announcer.tsx';
import { type Action, useAction } from '../use-call.ts';
import { useUnloadWarning } from '../use-unload-warning.ts';
import { sendUpload, type Upload, type UploadProgress } from './upload.ts';

interface Sending {
  sending: Action<Upload>;
  /** Null before the first bytes were sent. */
  progress: UploadProgress | null;
  stop: () => void;
}

/** Sends files one at a time. The same file with the same options is the same upload until its answer is heard. */
export function useSending(onDone: (batchId: string) => void): Sending {
  const [progress, setProgress] = useState<UploadProgress | null>(null);
  const controller = useRef<AbortController | null>(null);
  const sending = useAction(async (upload: Upload) => {
    controller.current = new AbortController();
    const { signal } = controller.current;
    setProgress(null);
    let isEarlier = false;
    const onRepeated = () => {
      isEarlier = true;
    };
    const batch = await sendUpload(upload, { onProgress: setProgress, onRepeated, signal });
    readOut('Upload complete.');
    onDone(batch.id);
    if (isEarlier) announceEarlier('list', 'created', batch.created_at);
  });
  useUnloadWarning(sending.isBusy);
  // Leaving the page ends the upload.
  useEffect(() => () => controller.current?.abort(), []);
  return { sending, progress, stop: () => controller.current?.abort() };
}
