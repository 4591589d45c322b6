import { useEffect, useState } from 'preact/hooks';
import type { Calls } from '../../client/api-types.ts';
import { EmptyState } from '../components/empty-state.tsx';
import { SelectField } from '../components/field.tsx';
import { Loading } from '../components/loading.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { Table } from '../components/table.tsx';
import { daysAgo, readUsage, type UsageLine } from '../credits/usage.ts';
import { UsageChart } from '../credits/usage-chart.tsx';
import { kindLabel, usageLabel } from '../credits/usage-label.ts';
import { countOf, formatBytes, formatNumber } from '../format.ts';
import type { PageProps } from '../page.ts';
import { asProblem, type Problem } from '../problem.ts';
import { goTo, linkTo } from '../router.ts';
import { useResource } from '../use-call.ts';

const ranges = [
  { value: '7', label: 'Last 7 days' },
  { value: '30', label: 'Last 30 days' },
  { value: '90', label: 'Last 90 days' },
  { value: '365', label: 'Last 365 days' },
];
const SHOWN_LINES = 200;

type Me = Calls['GET /v1/me']['response'];

/** The wallet, and what moved it. The choice of days and of operations is in the address. */
export function CreditsPage({ query }: PageProps) {
  const me = useResource<Me>('/v1/me');
  const days = ranges.find(({ value }) => value === query.get('days'))?.value ?? '30';
  const operation = query.get('operation') ?? '';
  const [from, to] = [daysAgo(Number(days) - 1), daysAgo(0)];
  const { usage, problem, retry } = useUsage(from, to);
  const lines = usage?.lines ?? [];
  const nameOf = (line: UsageLine) => line.operation ?? line.kind;
  const names = [...new Set(lines.map(nameOf))].sort();
  const chosen = operation === '' ? lines : lines.filter((line) => nameOf(line) === operation);
  const choose = (name: string, value: string) =>
    goTo('/credits', { ...Object.fromEntries(query), [name]: value }, true);
  return (
    <>
      <PageHeader title="Credits" about="Balance and usage." />
      <ProblemNotice problem={me.problem} onRetry={me.reload} />
      <div class="stack">
        <Balance me={me.data} />
        <section class="card stack" aria-label="Use">
          <div class="card-head">
            <h2>Use</h2>
            <div class="filters">
              <SelectField
                id="days"
                label="Days"
                options={ranges}
                value={days}
                onChange={(value) => choose('days', value)}
              />
              <SelectField
                id="operation"
                label="For"
                options={[
                  { value: '', label: 'Everything' },
                  ...names.map((name) => ({ value: name, label: usageLabel(name) })),
                ]}
                value={operation}
                onChange={(value) => choose('operation', value)}
              />
            </div>
          </div>
          <ProblemNotice problem={problem} onRetry={retry} />
          {usage === undefined && problem === null && <Loading />}
          {usage !== undefined && chosen.length === 0 && (
            <EmptyState title="Nothing moved the wallet">
              No credits were added or spent in these days. Days are those of UTC.
            </EmptyState>
          )}
          {chosen.some(({ credits }) => credits < 0) && (
            <UsageChart lines={chosen} from={from} to={to} />
          )}
          {chosen.length > 0 && <Ledger lines={chosen} />}
          {usage !== undefined && !usage.isWhole && (
            <p class="hint">There is more than fits here. Choose fewer days to see all of it.</p>
          )}
        </section>
      </div>
    </>
  );
}

function Balance({ me }: { me: Me | undefined }) {
  const show = (value: number | undefined) => (value === undefined ? '–' : formatNumber(value));
  return (
    <dl class="facts card">
      <div>
        <dt>Available</dt>
        <dd class="number">{show(me?.credits.remaining)}</dd>
      </div>
      <div>
        <dt>Pay once per person</dt>
        <dd>{me === undefined ? '–' : ownedFor(me.owned_days)}</dd>
      </div>
      <div>
        <dt>Reserved (in progress)</dt>
        <dd class="number">{show(me?.credits.reserved)}</dd>
      </div>
      <div>
        <dt>Storage</dt>
        <dd class="number">{me === undefined ? '–' : showStorage(me.storage)}</dd>
      </div>
    </dl>
  );
}

function ownedFor(days: number): string {
  return days === 0 ? 'Off: every delivery is charged' : `For ${countOf(days, 'day')}`;
}

function showStorage({ stored_bytes: stored, stored_bytes_max: max }: Me['storage']): string {
  return `${formatBytes(stored)} of ${formatBytes(max)}`;
}

function Ledger({ lines }: { lines: readonly UsageLine[] }) {
  const shown = lines.slice(0, SHOWN_LINES);
  const names = useNames();
  return (
    <>
      <Table
        caption="What moved the wallet, latest day first"
        rows={shown}
        keyOf={(line) => [line.day, line.kind, line.operation, line.batch_id].join(' ')}
        columns={[
          { header: 'Day (UTC)', cell: ({ day }) => <time dateTime={day}>{day}</time> },
          { header: 'What', cell: ({ kind }) => kindLabel(kind) },
          {
            header: 'For',
            cell: ({ operation }) => (operation === null ? '–' : usageLabel(operation)),
          },
          {
            header: 'List',
            cell: ({ batch_id: id, operation }) =>
              id === null ? (
                '–'
              ) : (
                <a href={linkTo(`/${operation === 'people.search' ? 'exports' : 'batches'}/${id}`)}>
                  {names.get(id) ?? `…${id.slice(-8)}`}
                </a>
              ),
          },
          {
            header: 'Matches',
            isNumber: true,
            cell: ({ units, operation }) => (operation === null ? '–' : formatNumber(units)),
          },
          {
            header: 'Credits',
            isNumber: true,
            cell: ({ credits }) => `${credits > 0 ? '+' : ''}${formatNumber(credits)}`,
          },
        ]}
      />
      {lines.length > shown.length && (
        <p class="hint">
          The latest {countOf(shown.length, 'line')} of {formatNumber(lines.length)}.
        </p>
      )}
    </>
  );
}

/** The names of the latest lists and exports by id. */
function useNames(): ReadonlyMap<string, string> {
  const lists = useResource<{ data: Named[] }>('/v1/batches?limit=100');
  const exported = useResource<{ data: Named[] }>('/v1/exports?limit=100');
  const named = [...(lists.data?.data ?? []), ...(exported.data?.data ?? [])];
  return new Map(named.map(({ id, name }) => [id, name]));
}

interface Named {
  id: string;
  name: string;
}

/** What was used from one UTC day to another. */
function useUsage(from: string, to: string) {
  const [state, setState] = useState<{
    usage?: { lines: UsageLine[]; isWhole: boolean };
    problem: Problem | null;
  }>({ problem: null });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const gone = new AbortController();
    setState({ problem: null });
    readUsage(from, to, gone.signal).then(
      (usage) => !gone.signal.aborted && setState({ usage, problem: null }),
      (error) => !gone.signal.aborted && setState({ problem: asProblem(error) }),
    );
    return () => gone.abort();
  }, [from, to, round]);
  return { ...state, retry: () => setRound(round + 1) };
}
