import { inTransaction } from '../../core/db/client.ts';
import { deleteContacts } from '../../core/search/do-not-contact.sql.ts';
import { defineRoute, none } from '../define-route.ts';
import { contactsBody, ownerOf, readContactsBody } from '../do-not-contact.ts';

/** Takes addresses and domains off the account's list. */
export const removeDoNotContactRoute = defineRoute({
  method: 'delete',
  path: '/v1/do-not-contact',
  summary: 'Take entries off the do-not-contact list',
  scope: 'search',
  query: none,
  params: none,
  body: contactsBody,
  async handler({ context, key, request, response }) {
    const { contacts } = await readContactsBody(request);
    const removed = await inTransaction(context.sql, (tx) =>
      deleteContacts(tx, ownerOf(key), contacts),
    );
    response.json({ removed });
  },
});
