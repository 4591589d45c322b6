/** The tests that detect the mutants of SQL. */

/** A test file, and a part of the name of a test or group, as written in it; an empty one for all of its tests. */
export interface Killer {
  file: string;
  test: string;
}

const credits = 'src/core/credits/credits.pg.test.ts';
const together = 'src/core/credits/charge.pg.test.ts';
const usage = 'src/api/usage.pg.test.ts';
const calls = 'src/api/enrich-one.pg.test.ts';
const search = 'src/api/search.pg.test.ts';
const keys = 'src/api/keys.pg.test.ts';
const lists = 'src/jobs/chunk/batch-credits.pg.test.ts';
const limits = 'src/jobs/chunk/max-credits.pg.test.ts';
const budget = 'src/jobs/chunk/key-budget.pg.test.ts';
const leases = 'src/jobs/chunk/leases.pg.test.ts';
const failures = 'src/jobs/chunk/failures.pg.test.ts';
const reserve = 'src/jobs/chunk/reserve.pg.test.ts';

const paidOnce = 'src/core/credits/owned.pg.test.ts';
const paidOnceByLists = 'src/jobs/chunk/owned-days.pg.test.ts';

export const killers = {
  grant: { file: credits, test: 'a grant' },
  ledgerOnce: { file: credits, test: 'the ledger has each reference' },
  ledgerKept: { file: credits, test: 'the ledger refuses' },
  ledgerLines: { file: credits, test: 'a line of the ledger' },
  walletBounds: { file: credits, test: 'balance is neither negative' },
  refund: { file: usage, test: 'a refund' },
  refundOfDay: { file: 'src/core/credits/refunds.pg.test.ts', test: '' },
  calls: { file: calls, test: 'money' },
  together: { file: together, test: '' },
  keyOfCalls: { file: keys, test: 'credits a day' },
  owned: { file: paidOnce, test: '' },
  localCopy: { file: 'src/jobs/list/local-copy.pg.test.ts', test: 'an opt-out after the match' },
  copiedCalls: {
    file: 'src/core/calls/calls-from-copy.pg.test.ts',
    test: 'admitted as plain',
  },
  copiedCallsOfAny: {
    file: 'src/core/calls/calls-from-copy.pg.test.ts',
    test: 'of any kind',
  },
  copiedMisses: {
    file: 'src/core/calls/calls-from-copy.pg.test.ts',
    test: 'a person who is added',
  },
  ownedLists: { file: paidOnceByLists, test: '' },
  joined: { file: 'src/sources/joined-owned.pg.test.ts', test: 'as one, in one list' },
  joinedAnew: { file: 'src/sources/joined-owned.pg.test.ts', test: 'by a record that is joined' },
  joinedRows: {
    file: 'src/jobs/list/dedupe-and-rerun.pg.test.ts',
    test: 'charges once for records that an import joins',
  },
  search: { file: search, test: 'a page costs' },
  lists: { file: lists, test: 'a wallet that is too small' },
  maxCredits: { file: limits, test: '' },
  crash: { file: lists, test: 'a crash' },
  keyOfLists: { file: budget, test: '' },
  secondPart: { file: failures, test: 'rows that throw whenever' },
  reserve: { file: reserve, test: '' },
  leases: { file: leases, test: '' },
  rerunsOfDeleted: { file: 'src/jobs/list/reruns-of-deleted-lists.pg.test.ts', test: '' },
} satisfies Record<string, Killer>;
