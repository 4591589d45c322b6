import { z } from 'zod';
import { listContacts } from '../../core/search/do-not-contact.sql.ts';
import { definePage } from '../http/define-page.ts';
import { ownerOf } from '../owner-of.ts';

const contactSchema = z.strictObject({
  email_sha256: z.string().nullable(),
  domain: z.string().nullable(),
  created_at: z.iso.datetime(),
});

/** Lists the account's do-not-contact entries, newest first. Addresses are stored as hashes only. */
export const listDoNotContactRoute = definePage({
  path: '/v1/do-not-contact',
  summary: 'The do-not-contact list, newest first',
  description: 'A page of the list.',
  scope: 'search',
  item: contactSchema,
  limit: { default: 100, max: 1000 },
  inTurn: true,
  cursor: z.string().regex(/^\d{1,15}$/, 'is not a cursor of this call'),
  read: ({ context, key }, { before, limit }) =>
    listContacts(context.sql, ownerOf(key), {
      before: before === null ? null : Number(before),
      limit,
    }),
  cursorOf: ({ id }) => String(id),
  view: ({ emailSha256, domain, createdAt }) => ({
    email_sha256: emailSha256?.toString('hex') ?? null,
    domain,
    created_at: createdAt.toISOString(),
  }),
});
