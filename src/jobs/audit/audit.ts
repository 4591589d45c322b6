/**
 * Proves that money, reservations and rows agree, and that published people are gone in time: each check counts what breaks its
 * rule.
 */
import { countCreditViolations } from '../../core/credits/audit.sql.ts';
import type { Database, Sql } from '../../core/db/client.ts';
import { countPublishedViolations } from '../../core/graph-copy/published.sql.ts';
import { prices } from '../../core/operations.ts';
import { batchPayers, countBatchViolations } from './audit-batches.sql.ts';

export interface AuditCheck {
  name: string;
  /** Rows that break the rule; 0 is right. */
  violations: number;
}

export interface AuditResult {
  ok: boolean;
  checks: AuditCheck[];
}

/** Runs every check in one snapshot: what moves meanwhile is not seen half moved. */
export async function audit(sql: Database): Promise<AuditResult> {
  const checks = (await sql.begin('isolation level repeatable read read only', (tx) =>
    countViolations(tx as unknown as Sql),
  )) as AuditCheck[];
  return { ok: checks.every((check) => check.violations === 0), checks };
}

/** Counts what breaks each rule, as the transaction sees it. */
export async function countViolations(tx: Sql): Promise<AuditCheck[]> {
  return [
    ...(await countCreditViolations(tx, prices, batchPayers(tx))),
    ...(await countBatchViolations(tx)),
    ...(await countPublishedViolations(tx)),
  ];
}
