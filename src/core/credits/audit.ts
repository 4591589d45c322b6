/** Proves that money, reservations and rows agree: each check counts what breaks its rule. */
import type { Database, Sql } from '../db/client.ts';
import { prices } from '../operations.ts';
import { countViolations } from './audit.sql.ts';

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
    countViolations(tx as unknown as Sql, prices),
  )) as AuditCheck[];
  return { ok: checks.every((check) => check.violations === 0), checks };
}
