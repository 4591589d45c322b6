/** What people may do to a batch: start, pause, resume, cancel, change, ask its price. */
import type { Context } from '../../../core/context.ts';
import { inTransaction } from '../../../core/db/client.ts';
import { outputColumns } from '../../../core/enrich/answer.ts';
import { must } from '../../../core/lib/assert.ts';
import { AppError } from '../../../core/lib/errors.ts';
import { type DispatchContext, dispatch } from '../chunk/dispatch.ts';
import { type Batch, findBatch, type Owner } from '../queries.ts';
import {
  type BatchChange,
  cancelBatch,
  changeBatch,
  pauseBatch,
  resumeBatch,
  setQuote,
  startBatch,
} from './queries.ts';

export type BatchAction = 'start' | 'pause' | 'resume' | 'cancel' | 'quote';

const refusals: Record<BatchAction, string> = {
  start: 'only a batch in `ready` can be started',
  pause: 'only a batch that is queued or running can be paused',
  resume: 'only a paused batch can be resumed',
  cancel: 'it has already ended',
  quote: 'a price can be asked for a batch in `ready` alone: upload it with hold=true',
};

/**
 * Does the action and returns the batch after it. The batch must be the owner's. Throws `AppError` 409
 * `invalid_state` when its state does not allow it.
 */
export async function controlBatch(
  context: DispatchContext,
  owner: Owner,
  batch: Batch,
  action: BatchAction,
): Promise<Batch> {
  const { id } = batch;
  const done = await act(context, owner, id, action);
  if (!done) throw invalidState(batch, refusals[action]);
  if (action === 'quote') {
    await context.queues.wake('quote-batch', [
      { id: `quote-batch-${id}`, payload: { batchId: id } },
    ]);
  } else if (action !== 'pause') {
    await dispatch(context);
  }
  return must(await findBatch(context.sql, id), `batch ${id}`);
}

function act(
  context: DispatchContext,
  owner: Owner,
  id: string,
  action: BatchAction,
): Promise<boolean> {
  const { sql } = context;
  switch (action) {
    case 'start':
      return startBatch(sql, owner, id);
    case 'pause':
      return pauseBatch(sql, owner, id);
    case 'resume':
      return resumeBatch(sql, owner, id);
    case 'cancel':
      return inTransaction(sql, (tx) => cancelBatch(tx, owner, id));
    case 'quote':
      return setQuote(sql, id, { state: 'running' });
  }
}

/** Changes a held batch and returns it. Throws as `controlBatch`, and 400 for unknown fields. */
export async function changeHeldBatch(
  context: Pick<Context, 'sql'>,
  owner: Owner,
  batch: Batch,
  change: BatchChange,
): Promise<Batch> {
  if (change.fields !== undefined) outputColumns(batch.operation, change.fields);
  if (!(await changeBatch(context.sql, owner, batch.id, change))) {
    throw invalidState(batch, 'only a batch in `ready` can be changed: upload it with hold=true');
  }
  return must(await findBatch(context.sql, batch.id), `batch ${batch.id}`);
}

function invalidState(batch: Batch, why: string): AppError {
  return new AppError({
    code: 'invalid_state',
    status: 409,
    message: `Batch ${batch.id} is ${batch.state}: ${why}.`,
    extensions: { state: batch.state },
  });
}
