/** `audit`. */
import type { Command } from 'commander';
import { openContext } from '../../src/core/context.ts';
import { describeStorage } from '../../src/core/storage-config.ts';
import { audit } from '../../src/jobs/audit/audit.ts';
import { auditLog, type LogAudit } from '../../src/jobs/audit/audit-log.ts';
import {
  auditParts,
  type BrokenObject,
  type PartsAudit,
} from '../../src/jobs/audit/audit-parts.ts';
import { requireOwnStore } from '../../src/jobs/batch/own-store.ts';
import { insertAudit } from '../../src/jobs/monitor/monitor.sql.ts';
import { moment } from '../arguments.ts';
import { readGlobals } from '../global-options.ts';
import { countOf, printResult, say } from '../output.ts';
import { readLogs } from '../read-logs.ts';
import { withDatabase } from '../with-database.ts';

interface AuditOptions {
  deep?: boolean;
  log?: string[];
  since?: Date;
}

export function addAuditCommand(program: Command): void {
  program
    .command('audit')
    .description('check that wallets, ledger, reservations and batches agree; exit 1 if not')
    .option('--deep', 'also read every stored object and recount the rows of every result')
    .option(
      '--log <file...>',
      'also compare logs of the API, gzipped or not: name lists, charges and actions that are in a log and not in the database, and changes of settings',
    )
    .option(
      '--since <time>',
      'with --log: compare only requests from this moment on, such as that of a backup: 2026-01-31T12:00:00Z',
      moment,
    )
    .action(async ({ deep = false, log, since }: AuditOptions, command: Command) => {
      const { config, json } = readGlobals(command);
      if (since !== undefined && log === undefined) {
        command.error('--since needs --log FILE.', { exitCode: 2 });
      }
      const result = await withDatabase(config, async (sql, url) => {
        await using context = deep ? await openContext(config, url, 'cli') : null;
        // In a wrong store everything is missing: that would be a failed audit of the database.
        if (context !== null) await requireOwnStore(context, describeStorage(config.storage));
        const { checks } = await audit(sql);
        const forgotten = log === undefined ? undefined : await auditLog(sql, readLogs(log), since);
        let objects: PartsAudit['objects'] | undefined;
        if (context !== null) {
          const parts = await auditParts({ ...context, config }, say);
          checks.push(...parts.checks);
          objects = parts.objects;
        }
        const failed = checks.filter(({ violations }) => violations > 0);
        const violations = failed.reduce((sum, check) => sum + check.violations, 0);
        await insertAudit(sql, { deep, violations, failed: failed.map(({ name }) => name) });
        const isComplete = forgotten === undefined || isKept(forgotten);
        return { ok: failed.length === 0 && isComplete, checks, objects, log: forgotten };
      });
      printResult(json, result, [
        ...result.checks.map(({ name, violations }) =>
          violations === 0 ? `ok   ${name}` : `FAIL ${name}: ${countOf(violations, 'violation')}`,
        ),
        ...(result.objects === undefined ? [] : describeObjects(result.objects)),
        ...(result.log === undefined ? [] : describeForgotten(result.log, since)),
      ]);
      if (!result.ok) process.exitCode = 1;
    });
}

function describeObjects({ checked, missing, damaged }: PartsAudit['objects']): string[] {
  const name = (how: string) => (one: BrokenObject) =>
    `     ${how}: ${one.object} of ${one.kind} ${one.batch_id}`;
  return [
    `${checked} stored objects read.`,
    ...missing.map(name('missing')),
    ...damaged.map(name('damaged')),
  ];
}

function isKept({ logged, lists, charges, actions }: LogAudit): boolean {
  return logged > 0 && lists.length + charges.length + actions.length === 0;
}

function describeForgotten(result: LogAudit, since?: Date): string[] {
  const { logged, requests, lists, charges, actions, changes } = result;
  if (logged === 0) {
    const from = since === undefined ? '' : ` since ${since.toISOString()}`;
    return [
      `FAIL the log has no line of a request${from}, so nothing was compared: give the JSON lines that the API wrote before the loss`,
    ];
  }
  const exported = lists.filter(({ kind }) => kind === 'export').length;
  const lost = `${countOf(lists.length - exported, 'list')}, ${countOf(exported, 'export')}, ${countOf(charges.length, 'charge')} and ${countOf(actions.length, 'action')}`;
  return [
    isKept(result)
      ? `ok   the database has all that ${requests} responses in the log promised`
      : `FAIL the database lacks ${lost} that ${requests} responses in the log promised`,
    ...lists.map(
      ({ batch_id: id, kind, account_id: account, answered_at: at }) =>
        `     ${kind} ${id} of account ${account}, answered ${at}`,
    ),
    ...charges.map(
      ({ request_id: id, account_id: account, answered_at: at, credits }) =>
        `     ${countOf(credits, 'credit')} of account ${account} for request ${id}, answered ${at}`,
    ),
    ...actions.map(
      ({ action, kind, batch_id: id, account_id: account, answered_at: at, state, reason }) =>
        `     ${action} of ${kind} ${id} of account ${account}, answered ${at}: it is ${state}${reason === null ? '' : ` (${reason})`}`,
    ),
    ...(changes.length === 0
      ? []
      : [
          'note these changes in the log cannot be compared; those since the moment of a restore are forgotten, so repeat them:',
        ]),
    ...changes.map(
      ({ method, route, id, account_id: account, times, last_at: at, enabled }) =>
        `     ${method} ${id === null ? route : route.replace(':id', id)}, ${countOf(times, 'time')} by account ${account}, last ${at}${enabled === null ? '' : `: ${enabled ? 'enabled' : 'disabled'}`}`,
    ),
  ];
}
