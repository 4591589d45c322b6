/** The calls by which an operator looks at the imports of the graph, and takes one back. */
import { z } from 'zod';
import {
  countsOfImport,
  listImports,
  showImport,
  type UndoPlan,
} from '../../core/graph/sources/undo-import.ts';
import { notFound } from '../../core/lib/errors.ts';
import { openUndo } from '../../jobs/imports/change-run.ts';
import { importRunSchema, viewRun } from '../../jobs/imports/import-run.ts';
import { definePage } from '../define-page.ts';
import { defineRoute, idParams } from '../define-route.ts';
import { operatorOf } from './operator-of.ts';

const count = z.number().int();
const importMembers = {
  id: count,
  source: z.string(),
  files: z.array(z.string()),
  as_of: z.string(),
  state: z.enum(['running', 'done', 'undoing', 'undone']),
  started_at: z.string(),
  rows: count,
  new: count,
  changed: count,
  same: count,
  gone: count,
  merged: count,
  rejected: count,
  suppressed: count,
};
const importSchema = z.object(importMembers).meta({ id: 'Import' });
const shownImportSchema = z
  .object({
    ...importMembers,
    undo: z
      .object({ later: z.array(count), restored: count, ended: count })
      .nullable()
      .meta({ description: 'The consequences of undoing it; null once it is undone.' }),
  })
  .meta({ id: 'ShownImport' });

type Stored = Awaited<ReturnType<typeof listImports>>[number];

function viewImport(one: Stored): z.output<typeof importSchema> {
  return {
    id: one.id,
    source: one.source,
    files: one.files,
    as_of: one.asOf,
    state: one.state as 'done',
    started_at: one.startedAt.toISOString(),
    ...countsOfImport(one),
  };
}

const viewUndo = (undo: UndoPlan | null) => undo && { ...undo };

const listRoute = definePage({
  path: '/admin/imports',
  summary: 'Imports of sources, the latest first',
  description: 'A page of imports.',
  scope: 'admin',
  item: importSchema,
  cursor: z.string().regex(/^[1-9]\d{0,14}$/, 'must be `next_cursor` of another page'),
  read: ({ context, key }, { limit, before }) => {
    operatorOf(key);
    return listImports(context.sql, limit, before === null ? null : Number(before));
  },
  cursorOf: ({ id }) => String(id),
  view: viewImport,
});

const getRoute = defineRoute({
  method: 'get',
  path: '/admin/imports/:id',
  summary: 'An import, and what undoing it would change',
  scope: 'admin',
  params: idParams,
  responses: { 200: { description: 'The import.', schema: shownImportSchema } },
  async handler({ context, key, params }) {
    operatorOf(key);
    const { stored, undo } = await showImport(context.sql, importIdOf(params.id));
    return { status: 200, body: { ...viewImport(stored), undo: viewUndo(undo) } };
  },
});

const undoRoute = defineRoute({
  method: 'post',
  path: '/admin/imports/:id/undo',
  summary: 'Take an import back; opt-outs stay',
  scope: 'admin',
  params: idParams,
  body: z.strictObject({
    with: z.array(z.int()).max(1000).default([]).meta({
      description:
        'Ids of the later imports that build on it, as `undo.later` names them: they are undone too.',
    }),
  }),
  idempotent: true,
  responses: { 202: { description: 'The run that undoes it.', schema: importRunSchema } },
  handler: ({ key, params, body, commit }) =>
    commit(async (tx) => {
      const undo = { id: importIdOf(params.id), told: body.with };
      return { status: 202, body: viewRun(await openUndo(tx, operatorOf(key), undo)) };
    }),
});

function importIdOf(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw notFound(`Import ${text}`);
}

export const importHistoryRoutes = [listRoute, getRoute, undoRoute];
