import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { Badge } from '../components/badge.tsx';
import { Loading } from '../components/loading.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { Table } from '../components/table.tsx';
import { formatBytes, formatDuration, formatNumber, formatTime } from '../format.ts';
import { useResource } from '../use-call.ts';

const AGAIN_MS = 10_000;

interface CopyReport {
  copy: { people: number; bytes: number; built_at: string; changed: number } | null;
  building: boolean;
  rows: { copy: number; postgres: number };
}

/** The response of `/admin/health`; only what is shown is typed. */
interface Health {
  ok: boolean;
  problems: string[];
  checked_at: string;
  processes: {
    kind: string;
    host: string;
    version: string;
    started_at: string;
    seen: boolean;
    seen_seconds_ago: number;
    local_copy: CopyReport | null;
  }[];
  queue: {
    kept_in: string;
    answers: boolean;
    oldest_chunk_seconds: number;
    leases_reclaimed: number;
  };
  credits: { reservations: number; reserved: number };
  schedules: { due: number; oldest_due_seconds: number };
  webhooks: { oldest_due_seconds: number };
  audits: { deep: boolean; ended_at: string; violations: number }[];
  database: {
    version: string;
    bytes: number;
    connections: number;
    connections_max: number;
    oldest_transaction_seconds: number;
  };
  limits: { kept_in: string; degraded: boolean | null };
  storage: { kept_in: string; answers: boolean; milliseconds: number; bytes_free: number | null };
}

/** The state of the whole service, for who runs it. */
export function HealthPage() {
  const health = useResource<Health>('/admin/health');
  const { reload } = health;
  useEffect(() => {
    const timer = setInterval(reload, AGAIN_MS);
    return () => clearInterval(timer);
  }, [reload]);
  const { data } = health;
  return (
    <>
      <PageHeader
        title="Health"
        about={
          data && (
            <>
              <Badge tone={data.ok ? 'good' : 'bad'}>
                {data.ok ? 'All is well' : 'Something is wrong'}
              </Badge>
              <span>Checked {formatTime(data.checked_at)}</span>
              <a href="/admin/queues">Queues</a>
            </>
          )
        }
      />
      <ProblemNotice problem={health.problem} onRetry={reload} />
      {data === undefined && health.problem === null && <Loading />}
      {data && <State health={data} />}
    </>
  );
}

function State({ health }: { health: Health }) {
  const { queue, database, storage, limits, credits, schedules, webhooks } = health;
  return (
    <div class="stack">
      {health.problems.map((text) => (
        <p class="notice bad" key={text}>
          {text}
        </p>
      ))}
      <dl class="facts card">
        <Fact name="Oldest queued job">{formatDuration(queue.oldest_chunk_seconds)}</Fact>
        <Fact name="Reclaimed leases">{formatNumber(queue.leases_reclaimed)}</Fact>
        <Fact name="Credits reserved">{formatNumber(credits.reserved)}</Fact>
        <Fact name="Schedules due">{formatNumber(schedules.due)}</Fact>
        <Fact name="Oldest delivery due">{formatDuration(webhooks.oldest_due_seconds)}</Fact>
        <Fact name="Last audit">{describeAudits(health.audits)}</Fact>
        <Fact name="Database">{formatBytes(database.bytes)}</Fact>
        <Fact name="Connections">
          {formatNumber(database.connections)} of {formatNumber(database.connections_max)}
        </Fact>
        <Fact name="Job queue">{queue.answers ? queue.kept_in : `${queue.kept_in}, away`}</Fact>
        <Fact name="Rate limits">
          {limits.degraded === true ? `${limits.kept_in}, away` : limits.kept_in}
        </Fact>
        <Fact name="File storage">
          {storage.kept_in === 'files' ? 'local disk' : storage.kept_in}
          {!storage.answers && ', away'}
        </Fact>
        {storage.bytes_free !== null && (
          <Fact name="Disk free">{formatBytes(storage.bytes_free)}</Fact>
        )}
      </dl>
      <Table
        caption="Processes"
        rows={health.processes}
        keyOf={({ kind, host, started_at }) => `${kind} ${host} ${started_at}`}
        columns={[
          { header: 'Process', cell: ({ kind }) => kind },
          { header: 'Host', cell: ({ host }) => host },
          { header: 'Version', cell: ({ version }) => version },
          { header: 'Started', cell: ({ started_at }) => formatTime(started_at) },
          {
            header: 'Status',
            cell: ({ seen }) => <Badge tone={seen ? 'good' : 'bad'}>{seen ? 'Up' : 'Down'}</Badge>,
          },
          {
            header: 'Local copy of the graph',
            cell: ({ local_copy: report }) => describeCopy(report),
          },
          {
            header: 'Last seen',
            isNumber: true,
            cell: ({ seen_seconds_ago: seconds }) => `${formatDuration(seconds)} ago`,
          },
        ]}
      />
    </div>
  );
}

/** The findings of the last audit, and its time. */
function describeAudits(audits: Health['audits']): string {
  const [last] = [...audits].sort((a, b) => b.ended_at.localeCompare(a.ended_at));
  if (last === undefined) return 'never';
  const broken = audits.reduce((sum, { violations }) => sum + violations, 0);
  return broken === 0
    ? `clean, ${formatTime(last.ended_at)}`
    : `${formatNumber(broken)} violations`;
}

/** The source of a process's answers: local copy or Postgres. */
function describeCopy(report: CopyReport | null): string {
  if (report === null) return '';
  const { copy, building, rows } = report;
  if (copy === null) return building ? 'being built' : 'none';
  const all = rows.copy + rows.postgres;
  const share = all === 0 ? 0 : Math.floor((100 * rows.copy) / all);
  return `${formatBytes(copy.bytes)} of ${formatTime(copy.built_at)}, ${formatNumber(copy.changed)} records changed since, ${share} % of rows`;
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class="number">{children}</dd>
    </div>
  );
}
