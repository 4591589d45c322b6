/** Lists and exports answer alike: most endpoints of `/v1/batches` are also those of `/v1/exports`. */

import type { Scope } from '../core/keys/keys.ts';
import type { BatchKind } from '../jobs/batch/batch.ts';
import { batchSchema, exportSchema } from '../jobs/batch/batch-view.ts';
import type { Route } from './define-route.ts';

export interface BatchResource<Kind extends BatchKind = BatchKind> {
  kind: Kind;
  path: string;
  scope: Scope;
  /** The nouns for one of them and for several. */
  noun: string;
  article: string;
  plural: string;
  /** Of its JSON. */
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

/** The routes that lists and exports have in common: one of each for an endpoint. */
export function forEachResource(routesOf: (resource: BatchResource) => Route[]): Route[] {
  return [lists, exportFiles].flatMap(routesOf);
}
