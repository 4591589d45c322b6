/** Every endpoint that takes a key. A new one is a file in `v1/` and a line here. */
import type { Route } from './define-route.ts';
import { controlBatchRoutes } from './v1/control-batch.ts';
import { createBatchRoute } from './v1/create-batch.ts';
import { enrichOneRoutes } from './v1/enrich-one.ts';
import { getBatchRoute } from './v1/get-batch.ts';
import { getBatchEventsRoute } from './v1/get-batch-events.ts';
import { getBatchPreviewRoute } from './v1/get-batch-preview.ts';
import { getBatchReportRoute } from './v1/get-batch-report.ts';
import { getBatchResultsRoute } from './v1/get-batch-results.ts';
import { getMeRoute } from './v1/get-me.ts';
import { listBatchesRoute } from './v1/list-batches.ts';
import { patchBatchRoute } from './v1/patch-batch.ts';
import { rerunBatchRoute } from './v1/rerun-batch.ts';

export const routes: readonly Route[] = [
  ...enrichOneRoutes,
  getMeRoute,
  createBatchRoute,
  listBatchesRoute,
  getBatchRoute,
  patchBatchRoute,
  ...controlBatchRoutes,
  getBatchPreviewRoute,
  getBatchResultsRoute,
  getBatchReportRoute,
  getBatchEventsRoute,
  rerunBatchRoute,
];
