/** The upload of a file, one at a time: its progress, and what it needs to be repeated. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { readOut } from '../components/announcer.tsx';
import { makeAndOpen } from '../components/lead-on.ts';
import { type Action, useAction } from '../use-call.ts';
import { useUnloadWarning } from '../use-unload-warning.ts';
import { sendUpload, type Upload, type UploadProgress } from './upload.ts';

interface Sending {
  sending: Action<Upload>;
  /** Null before the first bytes were sent. */
  progress: UploadProgress | null;
  stop: () => void;
}

/**
 * Sends files one at a time, and opens their lists. The same file with the same options is the same upload until its answer is
 * heard.
 */
export function useSending(): Sending {
  const [progress, setProgress] = useState<UploadProgress | null>(null);
  const controller = useRef<AbortController | null>(null);
  const sending = useAction(async (upload: Upload) => {
    controller.current = new AbortController();
    const { signal } = controller.current;
    setProgress(null);
    await makeAndOpen('list', 'created', async (onRepeated) => {
      const post = { onProgress: setProgress, onRepeated, signal };
      const { id, created_at: at } = await sendUpload(upload, post);
      readOut('Upload complete.');
      return { path: `/batches/${id}`, at };
    });
  });
  useUnloadWarning(sending.isBusy);
  // Leaving the page ends the upload.
  useEffect(() => () => controller.current?.abort(), []);
  return { sending, progress, stop: () => controller.current?.abort() };
}
