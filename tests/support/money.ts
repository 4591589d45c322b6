/** The money of a pipeline, as tests of lists and exports check it. */
import { expect } from 'vitest';
import { audit } from '../../src/jobs/audit/audit.ts';
import { auditParts } from '../../src/jobs/audit/audit-parts.ts';
import type { Caller, Pipeline } from './pipeline.ts';

/** Checks that wallets, ledger, batches and stored parts agree. */
export async function expectAgreement(pipeline: Pipeline): Promise<void> {
  const { checks } = await audit(pipeline.sql);
  const deep = await auditParts(pipeline.context);
  expect([...checks, ...deep.checks].filter(({ violations }) => violations > 0)).toEqual([]);
}

/** Returns the credits spent of those that the account began with; checks that none is reserved. */
export async function spentOf(pipeline: Pipeline, by: Caller, credits: number): Promise<number> {
  const wallet = await pipeline.wallet(by);
  expect(wallet?.reserved).toBe(0);
  return credits - (wallet?.balance ?? 0);
}

/** Runs `change` once, when the first part is matched and stored, and not committed. */
export function beforeFirstCommit(pipeline: Pipeline, change: () => Promise<unknown>): void {
  let isDone = false;
  pipeline.faults.put = async (key) => {
    if (isDone || !key.includes('/parts/')) return;
    isDone = true;
    await change();
  };
}
