/** Every endpoint that takes a key. A new one is a file in `v1/` and a line here. */
import { importRunRoutes } from './admin/import-runs.ts';
import { importHistoryRoutes } from './admin/imports.ts';
import { splitByHandRoutes } from './admin/splits.ts';
import type { Route } from './http/define-route.ts';
import { addDoNotContactRoute } from './v1/add-do-not-contact.ts';
import { controlBatchRoutes } from './v1/control-batch.ts';
import { createBatchRoute } from './v1/create-batch.ts';
import { createExportRoute } from './v1/create-export.ts';
import { createKeyRoute } from './v1/create-key.ts';
import { createMappingRoute } from './v1/create-mapping.ts';
import { createScheduleRoute } from './v1/create-schedule.ts';
import { createSearchRoute } from './v1/create-search.ts';
import { createUploadRoute } from './v1/create-upload.ts';
import { createWebhookRoute } from './v1/create-webhook.ts';
import { decideRowsRoute } from './v1/decide-rows.ts';
import { deleteBatchRoutes } from './v1/delete-batch.ts';
import { deleteKeyRoute } from './v1/delete-key.ts';
import { deleteMappingRoute } from './v1/delete-mapping.ts';
import { deleteScheduleRoute } from './v1/delete-schedule.ts';
import { deleteSearchRoute } from './v1/delete-search.ts';
import { deleteWebhookRoute } from './v1/delete-webhook.ts';
import { enrichOneRoutes } from './v1/enrich-one.ts';
import { getBatchRoutes } from './v1/get-batch.ts';
import { getBatchEventsRoutes } from './v1/get-batch-events.ts';
import { getBatchPreviewRoute } from './v1/get-batch-preview.ts';
import { getBatchReportRoutes } from './v1/get-batch-report.ts';
import { getBatchResultsRoutes } from './v1/get-batch-results.ts';
import { getLedgerFileRoute, getLedgerRoute } from './v1/get-ledger.ts';
import { getMeRoute } from './v1/get-me.ts';
import { getScheduleRoute } from './v1/get-schedule.ts';
import { getUsageRoute } from './v1/get-usage.ts';
import { getWebhookRoute } from './v1/get-webhook.ts';
import { listAmbiguousRowsRoute } from './v1/list-ambiguous-rows.ts';
import { listBatchesRoutes } from './v1/list-batches.ts';
import { listDoNotContactRoute } from './v1/list-do-not-contact.ts';
import { listKeysRoute } from './v1/list-keys.ts';
import { listMappingsRoute } from './v1/list-mappings.ts';
import { listOptOutsRoute } from './v1/list-opt-outs.ts';
import { listScheduleRunsRoute } from './v1/list-schedule-runs.ts';
import { listSchedulesRoute } from './v1/list-schedules.ts';
import { listSearchesRoute } from './v1/list-searches.ts';
import { listWebhookDeliveriesRoute } from './v1/list-webhook-deliveries.ts';
import { listWebhooksRoute } from './v1/list-webhooks.ts';
import { lookUpRoutes } from './v1/look-up.ts';
import { lookUpCompaniesRoute } from './v1/look-up-companies.ts';
import { patchBatchRoute } from './v1/patch-batch.ts';
import { patchScheduleRoute } from './v1/patch-schedule.ts';
import { patchWebhookRoute } from './v1/patch-webhook.ts';
import { previewScheduleRoute } from './v1/preview-schedule.ts';
import { breakDownSearchRoute, previewSearchRoutes } from './v1/preview-search.ts';
import { removeDoNotContactRoute } from './v1/remove-do-not-contact.ts';
import { replayWebhookDeliveryRoute } from './v1/replay-webhook-delivery.ts';
import { rerunBatchRoute } from './v1/rerun-batch.ts';
import { rollKeyRoute } from './v1/roll-key.ts';
import { rotateWebhookRoute } from './v1/rotate-webhook.ts';
import { runScheduleRoute } from './v1/run-schedule.ts';
import { searchPeopleRoutes } from './v1/search-people.ts';
import { testWebhookRoute } from './v1/test-webhook.ts';

export const routes: readonly Route[] = [
  ...enrichOneRoutes,
  ...lookUpRoutes,
  lookUpCompaniesRoute,
  ...previewSearchRoutes,
  breakDownSearchRoute,
  ...searchPeopleRoutes,
  addDoNotContactRoute,
  listDoNotContactRoute,
  listOptOutsRoute,
  removeDoNotContactRoute,
  getMeRoute,
  createUploadRoute,
  createBatchRoute,
  createExportRoute,
  ...listBatchesRoutes,
  ...getBatchRoutes,
  patchBatchRoute,
  ...deleteBatchRoutes,
  ...controlBatchRoutes,
  getBatchPreviewRoute,
  ...getBatchResultsRoutes,
  ...getBatchReportRoutes,
  ...getBatchEventsRoutes,
  rerunBatchRoute,
  listAmbiguousRowsRoute,
  decideRowsRoute,
  createScheduleRoute,
  listSchedulesRoute,
  previewScheduleRoute,
  getScheduleRoute,
  patchScheduleRoute,
  deleteScheduleRoute,
  listScheduleRunsRoute,
  runScheduleRoute,
  createKeyRoute,
  listKeysRoute,
  deleteKeyRoute,
  rollKeyRoute,
  createMappingRoute,
  listMappingsRoute,
  deleteMappingRoute,
  createSearchRoute,
  listSearchesRoute,
  deleteSearchRoute,
  createWebhookRoute,
  listWebhooksRoute,
  getWebhookRoute,
  patchWebhookRoute,
  deleteWebhookRoute,
  rotateWebhookRoute,
  testWebhookRoute,
  listWebhookDeliveriesRoute,
  replayWebhookDeliveryRoute,
  getUsageRoute,
  getLedgerRoute,
  getLedgerFileRoute,
];

/** Endpoints of an operator, whose objects belong to the whole service. */
export const operatorRoutes: readonly Route[] = [
  ...importRunRoutes,
  ...importHistoryRoutes,
  ...splitByHandRoutes,
];

/** Every endpoint of the public document. */
export const documentedRoutes: readonly Route[] = [...routes, ...operatorRoutes];
