import { z } from 'zod';
import { graphOf } from '../../core/graph/graph-of.ts';
import { listOptedOut, type OptedOutPerson } from '../../core/suppression/suppression.sql.ts';
import { inReadingTurn } from '../../jobs/list/reading-turns.ts';
import { decimal } from '../http/decimal.ts';
import { defineRoute } from '../http/define-route.ts';
import { readerOf } from '../http/reader-of.ts';
import { ownerOf } from '../owner-of.ts';

const optOutSchema = z.strictObject({
  person_id: z.number().int(),
  opted_out_at: z.iso.datetime(),
});

/** The place of a person in the feed: opt-out and person id. */
const cursor = z
  .string()
  .regex(/^\d{1,15}-\d{1,15}$/, 'is not a cursor of this call')
  .default('0-0')
  .transform((text) => {
    const [number = 0, personId = 0] = text.split('-').map(Number);
    return { number, personId };
  });

/** A page of the maximum has 670 kB. */
const PAGE_BYTES_MAX = 1024 * 1024;

/**
 * Lists the ids of people who opted out, oldest first, so that customers delete their copies. Unlike in a page,
 * `next_cursor` is always there: the same call with it tomorrow returns those who opted out since.
 */
export const listOptOutsRoute = defineRoute({
  method: 'get',
  path: '/v1/opt-outs',
  summary: 'Ids of people who opted out, oldest first',
  scope: null,
  query: z.strictObject({
    limit: decimal(z.number().int().min(1).max(10_000)).default(1_000),
    cursor,
  }),
  responses: {
    200: {
      description:
        'People who opted out after the cursor; `next_cursor` is where the next call continues.',
      schema: z.strictObject({ data: z.array(optOutSchema), next_cursor: z.string() }),
    },
  },
  responseBytesMax: PAGE_BYTES_MAX,
  async handler({ context, key, query, response }) {
    const graph = graphOf(context, ownerOf(key).live);
    const reader = readerOf({ key, response });
    // Ten thousand people take the thread as long as the first rows of a list, and cost nothing either.
    return inReadingTurn(reader, async () => {
      const people = await listOptedOut(graph, query.cursor, query.limit);
      const data = people.map(({ personId, optedOutAt }) => {
        return { person_id: personId, opted_out_at: optedOutAt.toISOString() };
      });
      const next_cursor = cursorOf(people.at(-1) ?? query.cursor);
      return { status: 200 as const, body: { data, next_cursor } };
    });
  },
});

function cursorOf({ number, personId }: Pick<OptedOutPerson, 'number' | 'personId'>): string {
  return `${number}-${personId}`;
}
