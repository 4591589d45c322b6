/** The context of the API over that of a pipeline. */
import type { ApiContext } from '../../src/api/http/api-context.ts';
import { openEnrichCalls } from '../../src/core/calls/enrich-calls.ts';
import { openAdmission, openAuthentication } from '../../src/core/keys/admission.ts';
import { openKeyUses } from '../../src/core/keys/key-uses.ts';
import { openSessions } from '../../src/core/sessions/sessions.ts';
import { watchBatches } from '../../src/jobs/batch/watch-batches.ts';
import type { JobContext } from '../../src/jobs/queue/job-context.ts';

/** Opens all that the API has in addition; the caller stops the watcher. */
export function openApiContext(
  context: JobContext & Pick<ApiContext, 'replicas' | 'readSearch'>,
): ApiContext {
  return {
    ...context,
    watcher: watchBatches(context.sql, context.log),
    keyUses: openKeyUses(context.sql, context.log),
    admit: openAdmission(context.sql, context.limiter),
    authenticate: openAuthentication(context.sql),
    findSession: openSessions(context.sql),
    calls: openEnrichCalls(context),
  };
}
