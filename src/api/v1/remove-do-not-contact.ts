import { z } from 'zod';
import { inTransaction } from '../../core/db/client.ts';
import { deleteContacts } from '../../core/search/do-not-contact.sql.ts';
import { contactsBody, receiveContacts } from '../do-not-contact.ts';
import { defineRoute } from '../http/define-route.ts';
import { ownerOf } from '../owner-of.ts';

/** Removes addresses and domains from the account's list. */
export const removeDoNotContactRoute = defineRoute({
  method: 'delete',
  path: '/v1/do-not-contact',
  summary: 'Remove entries from the do-not-contact list',
  scope: 'search',
  bodies: { 'application/json': contactsBody },
  receive: receiveContacts,
  responses: {
    200: {
      description: 'The number of entries removed.',
      schema: z.strictObject({ removed: z.number().int() }),
    },
  },
  async handler({ context, key, body }) {
    const removed = await inTransaction(context.sql, (tx) =>
      deleteContacts(tx, ownerOf(key), body),
    );
    return { status: 200, body: { removed } };
  },
});
