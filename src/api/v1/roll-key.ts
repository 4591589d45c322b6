import { z } from 'zod';
import {
  overlapSecondsDefault,
  overlapSecondsMax,
  rollKey,
} from '../../core/keys/account-keys/account-keys.ts';
import { AppError } from '../../core/lib/errors.ts';
import { defineRoute, idParams, none } from '../define-route.ts';
import { keysOf, viewKey } from '../key-view.ts';
import { answerOnce } from '../shown-once-answer.ts';

function onlyByCommand(): AppError {
  return new AppError({
    code: 'forbidden',
    status: 403,
    message:
      'A key with the scope `admin` is replaced on the server alone: `enrich key roll PREFIX`.',
  });
}

const body = z.strictObject({
  overlap_seconds: z.number().int().min(0).max(overlapSecondsMax).default(overlapSecondsDefault),
});

/** Makes a new key with the same settings; the old one stays valid for the overlap. */
export const rollKeyRoute = defineRoute({
  method: 'post',
  path: '/v1/keys/:id/roll',
  summary: 'Replace a key by a new one',
  scope: 'account',
  query: none,
  params: idParams,
  body,
  handler: (input) =>
    answerOnce(input, { name: 'key', schema: body }, async (options, alongside) => {
      const roll = { id: input.params.id, overlapSeconds: options.overlap_seconds };
      const owner = keysOf(input.key);
      const { made } = await rollKey(input.context.sql, owner, roll, (tx, { key, replaced }) => {
        // The key that was just made is rolled back: who may manage keys is not thereby an operator.
        if (key.scopes.includes('admin')) throw onlyByCommand();
        return alongside(tx, { ...viewKey(key), replaces: viewKey(replaced) });
      });
      return made.key;
    }),
});
