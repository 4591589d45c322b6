/** Shared by the calls about an account's do-not-contact list. */
import { z } from 'zod';
import { invalidParameters } from '../core/lib/errors.ts';
import type { ListedContacts } from '../core/search/do-not-contact.sql.ts';
import { readContacts } from '../core/search/do-not-contact.ts';
import type { RouteInput } from './http/define-route.ts';
import { holdBody } from './http/held-bytes.ts';
import { parseValues } from './http/parse-parameters.ts';
import { readJson } from './http/read-json.ts';
import { readerOf } from './http/reader-of.ts';

/** Maximum entries of one call, and their bytes: ten thousand long addresses. */
const ENTRIES_MAX = 10_000;
/** Bytes that an entry takes in memory while it is read, hashed and stored. In a body it has eight at least. */
const ENTRY_BYTES = 256;
const bounds = { bytesMax: 4 * 1024 * 1024, elementsMax: ENTRIES_MAX };

const entries = z.array(z.string().max(1000)).max(ENTRIES_MAX).default([]);
/** The entries of a call. */
export const contactsBody = z.strictObject({
  emails: entries,
  domains: entries,
  email_sha256: entries,
});

/** Reads the entries of a call. Throws `AppError` 400, 413 or 415, and as `holdBody` and `takeThreadTurn`. */
export async function receiveContacts({ key, request, response }: RouteInput): Promise<{
  body: ListedContacts;
  same: { options: z.output<typeof contactsBody> };
}> {
  const body = parseValues(contactsBody, await readJson(request, bounds));
  const listed = body.emails.length + body.domains.length + body.email_sha256.length;
  if (listed === 0 || listed > ENTRIES_MAX) {
    const message = `must list 1 to ${ENTRIES_MAX} entries in emails, domains and email_sha256`;
    throw invalidParameters(Object.keys(contactsBody.shape).map((field) => ({ field, message })));
  }
  holdBody(request)(listed * ENTRY_BYTES);
  const reader = readerOf({ key, response });
  return { body: await readContacts(body, reader), same: { options: body } };
}
