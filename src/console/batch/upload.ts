/**
 * Sending a file: with progress, and so that a second try after a lost connection never makes a second
 * batch. `fetch` cannot tell how much of a body has been sent, XMLHttpRequest can.
 */
import { call, newId, whileSignedIn } from '../api.ts';
import { formatBytes } from '../format.ts';
import { type Problem, pageProblem } from '../problem.ts';
import { session } from '../session.ts';
import type { Batch } from './batch.ts';

export interface UploadProgress {
  sent: number;
  total: number;
}

/** A file and how it is to be read: what is sent again when the connection is lost. */
export interface Upload {
  file: File;
  /** Query parameters of `POST /v1/batches`. */
  options: Record<string, string>;
  idempotencyKey: string;
}

export function newUpload(file: File, options: Record<string, string>): Upload {
  return { file, options, idempotencyKey: newId() };
}

/** Sends the file and returns the new batch, held until a user starts it. Throws `Problem`. */
export async function sendUpload(
  upload: Upload,
  onProgress: (progress: UploadProgress) => void,
  signal: AbortSignal,
): Promise<Batch> {
  await checkFile(upload.file);
  // A session that has ended is renewed before the file is sent and not after it.
  await call('GET', '/v1/batches?limit=1');
  const query = new URLSearchParams({
    ...upload.options,
    // A file that cannot be mapped by itself is mapped on the next page.
    ...{ hold: 'true', allow_unmapped: 'true', name: upload.file.name },
  });
  const path = `/v1/batches?${query}`;
  return postFile(path, upload, { onProgress, signal });
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
  signal: AbortSignal;
}

/** Sends a file as the body of a POST and returns the JSON of the answer. Throws `Problem`. */
export async function postFile<Answer>(
  path: string,
  upload: Pick<Upload, 'file' | 'idempotencyKey'>,
  post: Post,
): Promise<Answer> {
  const response = await whileSignedIn((shown) => sendBody(path, upload, { ...post, shown }));
  try {
    return (await response.json()) as Answer;
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
  { file, idempotencyKey }: Pick<Upload, 'file' | 'idempotencyKey'>,
  { shown, onProgress, signal }: Post & { shown: Readonly<Record<string, string>> },
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', path);
    const headers = {
      'Content-Type': 'application/octet-stream',
      'Idempotency-Key': idempotencyKey,
      ...shown,
    };
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded, total }) => onProgress({ sent: loaded, total });
    request.onload = () => {
      const credits = request.getResponseHeader('X-Credits-Remaining');
      const answered = credits === null ? {} : { 'X-Credits-Remaining': credits };
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
