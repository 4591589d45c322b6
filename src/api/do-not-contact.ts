/** What the calls around an account's do-not-contact list share. */
import type { Request } from 'express';
import { z } from 'zod';
import type { Owner } from '../core/accounts/owner.ts';
import type { ApiKey } from '../core/keys/keys.sql.ts';
import { AppError } from '../core/lib/errors.ts';
import type { ListedContacts } from '../core/search/do-not-contact.sql.ts';
import { readContacts } from '../core/search/do-not-contact.ts';
import { parseValues } from './define-route.ts';
import { parseJson, readBody } from './read-json.ts';

/** Entries of one call, and bytes: ten thousand long addresses. */
const ENTRIES_MAX = 10_000;
const BYTES_MAX = 4 * 1024 * 1024;

const entries = z.array(z.string().max(1000)).max(ENTRIES_MAX).default([]);
/** What a call lists. */
export const contactsBody = z.strictObject({
  emails: entries,
  domains: entries,
  email_sha256: entries,
});

/** The account and the graph of a key. */
export function ownerOf(key: ApiKey): Owner {
  return { accountId: key.accountId, live: key.mode === 'live' };
}

/** The body of a call and what it lists. Throws `AppError` 400, 413 or 415. */
export async function readContactsBody(
  request: Request,
): Promise<{ body: z.output<typeof contactsBody>; contacts: ListedContacts }> {
  const text = await readBody(request, BYTES_MAX);
  if (text !== '' && !request.is('application/json')) {
    throw new AppError({
      code: 'unsupported_media_type',
      status: 415,
      message: 'Send the body as application/json.',
    });
  }
  const body = parseValues(contactsBody, text === '' ? {} : parseJson(text));
  const listed = body.emails.length + body.domains.length + body.email_sha256.length;
  if (listed === 0 || listed > ENTRIES_MAX) {
    const message = `must list 1 to ${ENTRIES_MAX} entries in emails, domains and email_sha256`;
    throw new AppError({
      code: 'invalid_parameter',
      status: 400,
      message: `The body ${message}.`,
      errors: Object.keys(contactsBody.shape).map((field) => ({ field, message })),
    });
  }
  return { body, contacts: readContacts(body) };
}
