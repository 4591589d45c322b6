/** Reads a form with one file and small fields. The file is streamed to its destination. */

import type { Readable } from 'node:stream';
import { Busboy, type BusboyHeaders } from '@fastify/busboy';
import type { Request } from 'express';
import { type AppError, invalidParameter } from '../../core/lib/errors.ts';
import { plainName } from '../../core/lib/plain-name.ts';

export interface Form<File> {
  file: File;
  /** The file's name as sent, without control characters; for display only. */
  fileName: string | null;
  fields: Record<string, string>;
}

/**
 * Reads the form. `keep` stores the part `file`; `discard` deletes it when the rest of the form is invalid or never
 * arrives. Throws `AppError` 400 for a form without a file, with two files, or with more or larger fields than the
 * options need, and the reason of `cut` when that aborts.
 */
export async function readMultipart<File>(
  request: Request,
  keep: (file: Readable) => Promise<File>,
  discard: (file: File) => Promise<void>,
  cut: AbortSignal,
): Promise<Form<File>> {
  const parser = openParser(request);
  const fields = new Map<string, string>();
  let kept: Promise<File> | undefined;
  let source: Readable | undefined;
  let fileName: string | null = null;
  let leave = () => {};
  const parsed = new Promise<void>((resolve, reject) => {
    parser.on('field', (name, value, _nameIsCut, valueIsCut) => {
      if (valueIsCut)
        reject(badForm(`the field \`${name}\` of the form is longer than any option`));
      if (fields.has(name)) reject(badForm(`the form has the field \`${name}\` twice`));
      fields.set(name, value);
    });
    parser.on('file', (name, stream, givenName) => {
      if (name !== 'file') {
        stream.resume();
        return reject(badForm(`must be in the part \`file\`, not \`${name}\``));
      }
      fileName = plainName(givenName) || null;
      source = stream;
      kept = keep(stream);
      kept.catch(reject);
    });
    for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const) {
      parser.on(limit, () => reject(badForm('the form has more parts than this call accepts')));
    }
    parser.on('finish', resolve);
    parser.on('error', (error) => reject(badForm('the form cannot be read', error)));
    cut.addEventListener('abort', () => reject(cut.reason));
    leave = () => {
      if (!request.readableEnded) reject(badForm('the upload ended early. Send it again'));
    };
    // The client may have disconnected before this line.
    if (request.destroyed) leave();
    else request.on('close', leave);
  });
  try {
    request.pipe(parser);
    await parsed;
  } catch (error) {
    request.unpipe(parser);
    request.resume();
    parser.destroy();
    source?.destroy();
    const file = await kept?.catch(() => undefined);
    if (file !== undefined) await discard(file);
    throw error;
  } finally {
    // The rest of a refused form may take its time to come; the fields need not wait for it.
    request.off('close', leave);
  }
  if (kept === undefined) throw badForm('the form has no part `file`');
  return { file: await kept, fileName, fields: Object.fromEntries(fields) };
}

function openParser(request: Request): InstanceType<typeof Busboy> {
  try {
    return new Busboy({
      headers: request.headers as BusboyHeaders,
      limits: { files: 1, fields: 20, fieldSize: 65_536, fieldNameSize: 100, parts: 24 },
    });
  } catch (error) {
    throw badForm('the content type of the form has no boundary', error);
  }
}

function badForm(message: string, cause?: unknown): AppError {
  return invalidParameter('file', message, { cause });
}
