/**
 * The rules of money and work, checked in the database by the bench's own statements, in addition to the
 * product's audit. Each counts the rows that violate its rule.
 */

import type { Database } from '../../src/core/db/client.ts';
import { prices } from '../../src/core/operations.ts';
import { audit } from '../../src/jobs/audit/audit.ts';
import { countBrokenRules, type LedgerLine, listLedger } from './chaos.sql.ts';
import type { ChaosStack } from './chaos-stack.ts';
import type { History } from './history.ts';

/** Checks every rule now, at any moment of a run. */
export async function checkDatabase(stack: ChaosStack, history: History): Promise<void> {
  const broken = await stack.ask(async (sql) => [
    ...(await brokenRules(sql)),
    ...(await audit(sql)).checks.map(({ name, violations }) => ({
      name: `audit: ${name}`,
      violations,
    })),
  ]);
  for (const { name, violations } of broken) {
    if (violations > 0) history.violate(name, { rows: violations });
  }
}

async function brokenRules(sql: Database) {
  return await sql.begin('isolation level repeatable read read only', (tx) =>
    countBrokenRules(tx as unknown as Database, prices),
  );
}

/** Checks that ledger lines are only added, never changed or deleted. */
export class LedgerWatch {
  #seen = new Map<number, string>();

  async look(stack: ChaosStack, history: History): Promise<LedgerLine[]> {
    const lines = await stack.ask(listLedger);
    const now = new Map(lines.map((line) => [line.id, JSON.stringify(line)]));
    for (const [id, text] of this.#seen) {
      if (now.get(id) === text) continue;
      history.violate('a ledger line never changes', { before: text, now: now.get(id) });
    }
    this.#seen = now;
    return lines;
  }
}
