import { z } from 'zod';
import { addContacts } from '../../core/search/do-not-contact.ts';
import { contactsBody, receiveContacts } from '../do-not-contact.ts';
import { defineRoute } from '../http/define-route.ts';
import { ownerOf } from '../owner-of.ts';

/** Adds addresses and domains to the account's list; those on it stay. */
export const addDoNotContactRoute = defineRoute({
  method: 'post',
  path: '/v1/do-not-contact',
  summary: 'Exclude people from all searches, previews and exports of the account',
  scope: 'search',
  bodies: { 'application/json': contactsBody },
  receive: receiveContacts,
  idempotent: true,
  responses: {
    200: {
      description: 'The number of new entries.',
      schema: z.strictObject({ added: z.number().int() }),
    },
  },
  handler: ({ key, body, commit }) =>
    commit(async (tx) => {
      const added = await addContacts(tx, ownerOf(key), body);
      return { status: 200, body: { added } };
    }),
});
