/** The calls by which an operator looks at the imports of the graph, and takes one back. */
import { z } from 'zod';
import type { Sql } from '../../core/db/client.ts';
import {
  countsOfImport,
  listImports,
  showImport,
  type UndoPlan,
} from '../../core/graph/sources/undo-import.ts';
import { must } from '../../core/lib/assert.ts';
import { openUndo } from '../../jobs/imports/change-run.ts';
import { importRunSchema, viewRun } from '../../jobs/imports/import-run.ts';
import { findRunsOfImports } from '../../jobs/imports/import-runs.sql.ts';
import { definePage } from '../http/define-page.ts';
import { defineRoute, idParams } from '../http/define-route.ts';
import { numberCursor, parseNumber } from './graph-number.ts';
import { operatorOf } from './operator-of.ts';

const count = z.number().int();
const importMembers = {
  id: count,
  source: z.string(),
  files: z.array(z.string()),
  as_of: z.string(),
  state: z.enum(['running', 'done', 'undoing', 'undone']),
  problem: z.string().nullable().meta({
    description:
      'Why its records are not built yet: the last failure, which is repeated. Null without one.',
  }),
  started_at: z.string(),
  rows: count,
  new: count,
  changed: count,
  same: count,
  gone: count,
  merged: count,
  rejected: count,
  suppressed: count,
  run_id: z.string().nullable().meta({
    description:
      'The run of this account that made it, which has its rejected rows (`/admin/import-runs/{id}/rejects`); null for an import by the command line or another account, or once the run is deleted.',
  }),
};
const importSchema = z.object(importMembers).meta({ id: 'Import' });
const shownImportSchema = z
  .object({
    ...importMembers,
    undo: z
      .object({
        later: z.array(count),
        restored: count,
        ended: count,
        without_company: count.nullable().meta({
          description:
            'Records of other imports that lose their company until it is imported again; null where more than 20,000 companies are gone.',
        }),
      })
      .nullable()
      .meta({ description: 'The consequences of undoing it; null once it is undone.' }),
  })
  .meta({ id: 'ShownImport' });

type Stored = Awaited<ReturnType<typeof listImports>>[number] & { runId: string | null };

/** Adds the runs of the account that made the imports. */
async function withRuns<Row extends { id: number }>(
  sql: Sql,
  accountId: string,
  imports: readonly Row[],
): Promise<(Row & { runId: string | null })[]> {
  const ids = imports.map(({ id }) => id);
  const runs = await findRunsOfImports(sql, accountId, ids);
  return imports.map((one) => ({ ...one, runId: runs.get(one.id) ?? null }));
}

function viewImport(one: Stored): z.output<typeof importSchema> {
  return {
    id: one.id,
    source: one.source,
    files: one.files,
    as_of: one.asOf,
    state: one.state as 'done',
    problem: one.problem,
    started_at: one.startedAt.toISOString(),
    ...countsOfImport(one),
    run_id: one.runId,
  };
}

const viewUndo = (undo: UndoPlan | null) => undo && { ...undo };

const listRoute = definePage({
  path: '/admin/imports',
  summary: 'Imports of sources, the latest first',
  description: 'A page of imports.',
  scope: 'admin',
  item: importSchema,
  cursor: numberCursor,
  async read({ context, key }, { limit, before }) {
    const accountId = operatorOf(key);
    const imports = await listImports(context.sql, limit, before);
    return withRuns(context.sql, accountId, imports);
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
    const accountId = operatorOf(key);
    const { stored, undo } = await showImport(context.sql, parseNumber('Import', params.id));
    const [one] = await withRuns(context.sql, accountId, [stored]);
    return { status: 200, body: { ...viewImport(must(one, 'import')), undo: viewUndo(undo) } };
  },
});

const undoRoute = defineRoute({
  method: 'post',
  path: '/admin/imports/:id/undo',
  summary: 'Undo an import; opt-outs stay',
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
      const undo = { id: parseNumber('Import', params.id), told: body.with };
      return { status: 202, body: viewRun(await openUndo(tx, operatorOf(key), undo)) };
    }),
});

export const importHistoryRoutes = [listRoute, getRoute, undoRoute];
