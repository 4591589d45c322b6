/**
 * Sending a file: with progress, and so that a second try after a lost connection never makes a second
 * batch. `fetch` cannot tell how much of a body has been sent, XMLHttpRequest can.
 */
import { call, nameRequest, whileSignedIn } from '../api.ts';
import { attempt } from '../attempts.ts';
import { formatBytes } from '../format.ts';
import { asProblem, type Problem, pageProblem } from '../problem.ts';
import { session } from '../session.ts';
import type { Batch } from './batch.ts';

export interface UploadProgress {
  sent: number;
  total: number;
}

/** A file and how it is to be read. */
export interface Upload {
  file: File;
  /** Query parameters of `POST /v1/batches`. */
  options: Record<string, string>;
}

/**
 * Sends the file and returns the new batch, held until a user starts it; after a lost answer, the one that the same file has
 * made. Throws `Problem`.
 */
export async function sendUpload({ file, options }: Upload, post: Post): Promise<Batch> {
  await checkFile(file);
  // A session that has ended is renewed before the file is sent and not after it.
  await call('GET', '/v1/batches?limit=1');
  const query = new URLSearchParams({
    ...options,
    // A file that cannot be mapped by itself is mapped on the next page.
    ...{ hold: 'true', allow_unmapped: 'true', name: file.name },
  });
  const path = `/v1/batches?${query}`;
  const send = () =>
    attempt(nameRequest('POST', path, file.size), (key) =>
      postFile<Batch>(path, { file, key }, post),
    );
  return send().catch((error) => {
    // Other content under the name of a file whose answer was lost.
    if (asProblem(error).code === 'idempotency_key_reused') return send();
    throw error;
  });
}

/** Returns the problem of a list as soon as it is chosen; null when there is none. */
export function fileProblem([file, ...others]: readonly [File, ...File[]]): Problem | null {
  if (others.length > 0) {
    const count = others.length + 1;
    return pageProblem('several_files', `You chose ${count} files. Upload one list at a time.`);
  }
  const limit = session.get()?.limits.upload_bytes ?? Number.POSITIVE_INFINITY;
  if (file.size > limit) return tooLarge(file, limit);
  if (file.size === 0) return pageProblem('empty_file', 'This file is empty. Choose another one.');
  if (
    /^(image|video|audio)\//.test(file.type) ||
    /\.(pdf|docx?|pptx?|xls|ods|numbers)$/i.test(file.name)
  ) {
    return pageProblem(
      'wrong_type',
      `We can’t read ${kindOfFile(file)}. Save “${file.name}” as CSV or .xlsx and upload it again.`,
    );
  }
  return null;
}

/** `.xls files`, or `this file` when its name does not say its kind. */
function kindOfFile({ name }: File): string {
  const extension = /\.\w{1,8}$/.exec(name)?.[0];
  return extension === undefined ? 'this file' : `${extension} files`;
}

function tooLarge(file: File, limit: number): Problem {
  return pageProblem(
    'file_too_large',
    `“${file.name}” is ${formatBytes(file.size)}. The limit is ${formatBytes(limit)}. Split it and upload the parts, each with the header.`,
  );
}

/** Throws `Problem` for a folder, and for a file that was changed, moved or deleted since it was chosen: it cannot be read. */
export async function checkFile(file: File): Promise<void> {
  try {
    await file.slice(0, 1).arrayBuffer();
  } catch {
    throw pageProblem(
      'file_gone',
      `“${file.name}” can’t be read: it is a folder, or was changed, moved or deleted after you chose it. Choose a file.`,
    );
  }
}

interface Post {
  onProgress: (progress: UploadProgress) => void;
  /** Called when the answer is that of an earlier sending, whose answer was lost. */
  onRepeated?: () => void;
  signal: AbortSignal;
}

/** A file and its Idempotency-Key. */
export interface KeyedFile {
  file: File;
  key: string;
}

/** Sends a file as the body of a POST and returns the JSON of the answer. Throws `Problem`. */
export async function postFile<Answer>(
  path: string,
  keyed: KeyedFile,
  post: Post,
): Promise<Answer> {
  const response = await whileSignedIn((shown) => sendBody(path, keyed, { ...post, shown }));
  try {
    const answer = (await response.json()) as Answer;
    if (response.headers.has('Idempotent-Replayed')) post.onRepeated?.();
    return answer;
  } catch {
    // The page of a proxy.
    throw uploadLost();
  }
}

const uploadLost = () =>
  pageProblem(
    'upload_lost',
    'The connection was lost during the upload. Your file and settings are still here: try again. Nothing is created twice.',
  );

/** Sends a request; `shown` are the headers of the page. */
function sendBody(
  path: string,
  { file, key }: KeyedFile,
  { shown, onProgress, signal }: Post & { shown: Readonly<Record<string, string>> },
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', path);
    const headers = {
      'Content-Type': 'application/octet-stream',
      'Idempotency-Key': key,
      ...shown,
    };
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded, total }) => onProgress({ sent: loaded, total });
    request.onload = () => {
      const names = ['X-Credits-Remaining', 'Idempotent-Replayed'];
      const answered = names.flatMap((name): [string, string][] => {
        const value = request.getResponseHeader(name);
        return value === null ? [] : [[name, value]];
      });
      resolve(new Response(request.responseText, { status: request.status, headers: answered }));
    };
    request.onerror = () => reject(uploadLost());
    const stopped = () => reject(pageProblem('upload_stopped', 'The upload was stopped.'));
    // Before it began, as while a session was renewed.
    if (signal.aborted) return stopped();
    request.onabort = stopped;
    signal.addEventListener('abort', () => request.abort());
    request.send(file);
  });
}
