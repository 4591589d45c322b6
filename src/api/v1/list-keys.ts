import { z } from 'zod';
import { listKeys } from '../../core/keys/account-keys.sql.ts';
import { definePage } from '../http/define-page.ts';
import { keySchema, keysOf, viewKey } from '../key-view.ts';
import { readInTurn } from '../read-in-turn.ts';

/** Lists the account's keys, newest first, including those that have ended. */
export const listKeysRoute = definePage({
  path: '/v1/keys',
  summary: 'Keys of the account, newest first',
  description: 'A page of keys.',
  scope: 'account',
  item: keySchema,
  cursor: z.uuid(),
  read: (input, page) => readInTurn(input, (tx) => listKeys(tx, keysOf(input.key), page)),
  cursorOf: ({ id }) => id,
  view: viewKey,
});
