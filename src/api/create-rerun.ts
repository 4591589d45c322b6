/** Creates a rerun of a list, for the calls that choose its rows. */
import type { Response } from 'express';
import type { Sql } from '../core/db/client.ts';
import type { ApiKey } from '../core/keys/keys.sql.ts';
import type { ListBatch } from '../jobs/batch/batch.ts';
import { type BatchView, viewBatch } from '../jobs/batch/batch-view.ts';
import { createList, wakeSplit } from '../jobs/list/create-list.ts';
import { assertOnlyRerun, type RowChoice, storeRerun } from '../jobs/list/rerun-list.ts';
import type { ApiContext } from './http/api-context.ts';
import { clientGone } from './http/client-gone.ts';
import type { AfterCommit } from './http/define-route.ts';
import { mergeInTurn } from './merge-turns.ts';
import { requireOwnBatch } from './own-objects.ts';
import { ownerWithKeyOf } from './owner-of.ts';
import { uploadContextOf } from './upload-context.ts';

type Created = { status: 202; body: BatchView } & AfterCommit;

interface RerunInput {
  context: ApiContext;
  key: ApiKey;
  params: { id: string };
  response: Response;
  commit(work: (tx: Sql) => Promise<Created>): Promise<Created>;
}

/** Creates the rerun of the rows that `choose` gives for the list. Throws as a share, `storeRerun` and `createList`. */
export async function createRerun(
  { context, key, params, response, commit }: RerunInput,
  choose: (batch: ListBatch) => RowChoice,
): Promise<Created> {
  const uploadContext = uploadContextOf(context, key, response);
  const batch = await requireOwnBatch(context, key, 'list', params.id);
  return mergeInTurn(batch, clientGone(response), async () => {
    const { endedBefore, ...list } = await storeRerun(uploadContext, batch, choose(batch));
    const owner = ownerWithKeyOf(key);
    return createList(uploadContext, owner, list, (insert) =>
      commit(async (tx) => {
        const made = await insert(tx);
        await assertOnlyRerun(tx, made, endedBefore);
        const wake = () => wakeSplit(context, made.id);
        return { status: 202, body: viewBatch(made), wake };
      }),
    );
  });
}
