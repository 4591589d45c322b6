/** Lists and exports share most endpoints: those of `/v1/batches` also exist under `/v1/exports`. */

import type { Scope } from '../core/keys/keys.ts';
import type { BatchKind } from '../jobs/batch/batch.ts';
import { batchSchema, exportSchema } from '../jobs/batch/batch-view.ts';
import type { Route } from './http/define-route.ts';

export interface BatchResource<Kind extends BatchKind = BatchKind> {
  kind: Kind;
  path: string;
  scope: Scope;
  /** Singular, with its article, and plural. */
  noun: string;
  article: string;
  plural: string;
  /** The schema of its JSON. */
  schema: typeof batchSchema | typeof exportSchema;
}

const lists: BatchResource = {
  kind: 'list',
  path: '/v1/batches',
  scope: 'batches',
  noun: 'batch',
  article: 'a batch',
  plural: 'Batches',
  schema: batchSchema,
};
const exportFiles: BatchResource = {
  kind: 'export',
  path: '/v1/exports',
  scope: 'exports',
  noun: 'export',
  article: 'an export',
  plural: 'Exports',
  schema: exportSchema,
};

/** Returns the routes that lists and exports share, each once per resource. */
export function forEachResource(routesOf: (resource: BatchResource) => Route[]): Route[] {
  return [lists, exportFiles].flatMap(routesOf);
}
