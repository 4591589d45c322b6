/**
 * Reads a local copy without a thread: a single call reads a few places, and the messages to a thread and back cost more than
 * that. The table of identifiers is not held: an API is meant to stay small.
 */
import { releaseBuffer } from '../lib/buffer-pool.ts';
import { answerRequest } from './answer-request.ts';
import type { Entity } from './manifest.ts';
import { openCopy } from './open-copy.ts';
import type { OpenReader, RecordsReader } from './read-in-thread.ts';
import type { Answer, Request } from './thread-messages.ts';

/** Opens a copy for calls. */
export const readInProcess: OpenReader = async (folder, manifest) => {
  const copy = await openCopy(folder, manifest, { holdsTables: false });
  const ask = async <Kind extends Answer>(request: Exclude<Request, { used: unknown }>) =>
    answerRequest(copy, request) as Kind;
  const recordsOf = (entity: Entity): RecordsReader => ({
    lookUp: (values) => ask({ id: 0, entity, lines: values.join('\n') }),
    readFurther: (places) => ask({ id: 0, entity, places }),
    readTexts: (ids, { further }) => ask({ id: 0, entity, ids, further }),
  });
  return {
    people: recordsOf('people'),
    companies: recordsOf('companies'),
    release(used) {
      for (const buffer of used) releaseBuffer(Buffer.from(buffer));
    },
    close: copy.close,
  };
};
