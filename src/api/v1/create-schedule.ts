import { requestHash } from '../../core/idempotency/idempotency.ts';
import { viewSchedule } from '../../jobs/schedule/schedule-view.ts';
import { createSchedule } from '../../jobs/schedule/schedules.ts';
import { defineRoute, none, parseParameters } from '../define-route.ts';
import { claimRequest, replay } from '../idempotent-request.ts';
import { readJson } from '../read-json.ts';
import { scheduleOptions, toScheduleRequest } from '../schedule-options.ts';
import { ownerOf } from './own-batch.ts';

/** Makes a schedule: an export that is made by itself, at the times of a cron expression. */
export const createScheduleRoute = defineRoute({
  method: 'post',
  path: '/v1/schedules',
  summary: 'Export the people that a filter means again and again',
  scope: 'exports',
  query: none,
  params: none,
  body: scheduleOptions,
  async handler({ context, key, request, response }) {
    const idempotency = await claimRequest(context, key, request);
    try {
      const body = parseParameters(scheduleOptions, await readJson(request));
      const requestSha256 = requestHash(body, null);
      if (idempotency.stored !== null) {
        replay(response, idempotency.stored, requestSha256);
        return;
      }
      const owner = { ...ownerOf(key), keyId: key.id };
      const made = await createSchedule(context, owner, toScheduleRequest(body), (tx, schedule) =>
        idempotency.respond(tx, { requestSha256, status: 201, body: viewSchedule(schedule) }),
      );
      response.status(201).location(`/v1/schedules/${made.id}`).json(viewSchedule(made));
    } finally {
      await idempotency.release();
    }
  },
});
