/** The calls by which an operator splits records that were wrongly merged. */
import { z } from 'zod';
import { listSplits, splitRecords, undoSplit } from '../../core/graph/sources/split.ts';
import { definePage } from '../http/define-page.ts';
import { defineRoute, idParams } from '../http/define-route.ts';
import { numberCursor, parseNumber } from './graph-number.ts';
import { operatorOf } from './operator-of.ts';

const id = z.number().int();
const outcome = z.object({ split: id, ids: z.array(id) }).meta({
  description: 'The split, and the ids that its records have now.',
});

const splitRoutes = (
  [
    ['companies', 'company'],
    ['people', 'person'],
  ] as const
).map(([path, of]) =>
  defineRoute({
    method: 'post',
    path: `/admin/${path}/:id/split`,
    summary: `Split records out of a ${of} that they were wrongly merged into`,
    scope: 'admin',
    params: idParams,
    body: z.strictObject({
      records: z.array(z.int().min(1)).min(1).max(1000).meta({
        description: 'Their numbers: `record` in the sources of the company or person.',
      }),
    }),
    responses: { 200: { description: 'The split.', schema: outcome } },
    errors: [409],
    async handler({ context, key, params, body }) {
      operatorOf(key);
      const asked = parseNumber(of === 'company' ? 'Company' : 'Person', params.id);
      return { status: 200, body: await splitRecords(context.sql, of, asked, body.records) };
    },
  }),
);

const listRoute = definePage({
  path: '/admin/splits',
  summary: 'Splits by hand, the latest first',
  description: 'A page of splits.',
  scope: 'admin',
  item: z
    .object({
      id,
      of: z.enum(['company', 'person']),
      from: id,
      records: z.array(id),
      made_at: z.string(),
      undone_at: z.string().nullable(),
    })
    .meta({ id: 'Split' }),
  cursor: numberCursor,
  read: ({ context, key }, { limit, before }) => {
    operatorOf(key);
    return listSplits(context.sql, limit, before);
  },
  cursorOf: (split) => String(split.id),
  view: ({ madeAt, undoneAt, ...split }) => ({
    ...split,
    made_at: madeAt.toISOString(),
    undone_at: undoneAt?.toISOString() ?? null,
  }),
});

const undoRoute = defineRoute({
  method: 'post',
  path: '/admin/splits/:id/undo',
  summary: 'Undo a split: its records are joined again if they are surely the same',
  scope: 'admin',
  params: idParams,
  responses: { 200: { description: 'The split.', schema: outcome } },
  errors: [409],
  async handler({ context, key, params }) {
    operatorOf(key);
    return { status: 200, body: await undoSplit(context.sql, parseNumber('Split', params.id)) };
  },
});

export const splitByHandRoutes = [...splitRoutes, listRoute, undoRoute];
