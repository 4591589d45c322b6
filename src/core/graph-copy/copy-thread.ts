/** The thread that reads a local copy for a process; `read-in-thread.ts` starts it and has its messages. */
import { parentPort, workerData } from 'node:worker_threads';
import { must } from '../lib/assert.ts';
import { releaseBuffer } from '../lib/buffer-pool.ts';
import { answerRequest } from './answer-request.ts';
import { UnusableCopy } from './manifest.ts';
import { openCopy } from './open-copy.ts';
import type { Answer, Request, ThreadInput } from './thread-messages.ts';

const port = must(parentPort, 'the port of a thread');
const { folder, manifest } = workerData as ThreadInput;

function send(answer: Answer): void {
  const moved = 'buffers' in answer ? [...answer.buffers] : [];
  if ('hits' in answer) {
    moved.push(answer.hits.buffer as ArrayBuffer, answer.ids.buffer as ArrayBuffer);
  }
  port.postMessage(answer, moved);
}

/** Why a request, or the copy as a whole, failed: an unusable copy, or a bug. */
function failure(id: number, error: unknown): Answer {
  return { id, unusable: error instanceof UnusableCopy, error: (error as Error).message };
}

try {
  const copy = await openCopy(folder, manifest);
  port.on('message', (request: Request) => {
    if ('used' in request) {
      for (const buffer of request.used) releaseBuffer(Buffer.from(buffer));
      return;
    }
    const { id } = request;
    try {
      send(answerRequest(copy, request));
    } catch (error) {
      send(failure(id, error));
    }
  });
  send({ id: 0, isOpen: true });
} catch (error) {
  send(failure(0, error));
}
