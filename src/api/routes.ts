/** Every endpoint that takes a key. A new one is a file in `v1/` and a line here. */
import type { Route } from './define-route.ts';
import { controlBatchRoutes } from './v1/control-batch.ts';
import { createBatchRoute } from './v1/create-batch.ts';
import { createKeyRoute } from './v1/create-key.ts';
import { createUploadRoute } from './v1/create-upload.ts';
import { deleteBatchRoute } from './v1/delete-batch.ts';
import { deleteKeyRoute } from './v1/delete-key.ts';
import { enrichOneRoutes } from './v1/enrich-one.ts';
import { getBatchRoute } from './v1/get-batch.ts';
import { getBatchEventsRoute } from './v1/get-batch-events.ts';
import { getBatchPreviewRoute } from './v1/get-batch-preview.ts';
import { getBatchReportRoute } from './v1/get-batch-report.ts';
import { getBatchResultsRoute } from './v1/get-batch-results.ts';
import { getMeRoute } from './v1/get-me.ts';
import { getUsageRoute } from './v1/get-usage.ts';
import { listBatchesRoute } from './v1/list-batches.ts';
import { listKeysRoute } from './v1/list-keys.ts';
import { lookUpRoutes } from './v1/look-up.ts';
import { patchBatchRoute } from './v1/patch-batch.ts';
import { rerunBatchRoute } from './v1/rerun-batch.ts';
import { rollKeyRoute } from './v1/roll-key.ts';

export const routes: readonly Route[] = [
  ...enrichOneRoutes,
  ...lookUpRoutes,
  getMeRoute,
  createUploadRoute,
  createBatchRoute,
  listBatchesRoute,
  getBatchRoute,
  patchBatchRoute,
  deleteBatchRoute,
  ...controlBatchRoutes,
  getBatchPreviewRoute,
  getBatchResultsRoute,
  getBatchReportRoute,
  getBatchEventsRoute,
  rerunBatchRoute,
  createKeyRoute,
  listKeysRoute,
  deleteKeyRoute,
  rollKeyRoute,
  getUsageRoute,
];
