import { inTransaction } from '../../core/db/client.ts';
import { requestHash } from '../../core/idempotency/idempotency.ts';
import { addContacts } from '../../core/search/do-not-contact.ts';
import { defineRoute, none } from '../define-route.ts';
import { contactsBody, ownerOf, readContactsBody } from '../do-not-contact.ts';
import { claimRequest, replay } from '../idempotent-request.ts';

/** Puts addresses and domains on the account's list; what is listed already stays. */
export const addDoNotContactRoute = defineRoute({
  method: 'post',
  path: '/v1/do-not-contact',
  summary: 'Keep people out of all searches, previews and exports of the account',
  scope: 'search',
  query: none,
  params: none,
  body: contactsBody,
  async handler({ context, key, request, response }) {
    const idempotency = await claimRequest(context, key, request);
    try {
      const { body, contacts } = await readContactsBody(request);
      const requestSha256 = requestHash(body, null);
      if (idempotency.stored !== null) return replay(response, idempotency.stored, requestSha256);
      const answer = await inTransaction(context.sql, async (tx) => {
        const added = await addContacts(tx, ownerOf(key), contacts);
        await idempotency.respond(tx, { requestSha256, status: 200, body: { added } });
        return { added };
      });
      response.json(answer);
    } finally {
      await idempotency.release();
    }
  },
});
