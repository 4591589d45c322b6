import { z } from 'zod';
import { listContacts } from '../../core/search/do-not-contact.sql.ts';
import { defineRoute, none } from '../define-route.ts';
import { ownerOf } from '../do-not-contact.ts';

/** The account's list, newest first; of addresses only hashes are kept. */
export const listDoNotContactRoute = defineRoute({
  method: 'get',
  path: '/v1/do-not-contact',
  summary: 'The do-not-contact list, newest first',
  scope: 'search',
  query: z.strictObject({
    limit: z.coerce.number().int().min(1).max(1000).default(100),
    cursor: z
      .string()
      .regex(/^\d{1,15}$/, 'is not a cursor of this call')
      .optional(),
  }),
  params: none,
  async handler({ context, key, query, response }) {
    const { limit, cursor } = query;
    const rows = await listContacts(context.sql, ownerOf(key), {
      before: cursor === undefined ? null : Number(cursor),
      limit: limit + 1,
    });
    const page = rows.slice(0, limit);
    response.json({
      data: page.map(({ emailSha256, domain, createdAt }) => ({
        email_sha256: emailSha256?.toString('hex') ?? null,
        domain,
        created_at: createdAt,
      })),
      next_cursor: rows.length > limit ? String(page.at(-1)?.id) : null,
    });
  },
});
