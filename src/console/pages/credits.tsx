import { useEffect } from 'preact/hooks';
import type { Calls, Key } from '../../client/api-types.ts';
import { Button } from '../components/button.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { SelectField } from '../components/field.tsx';
import { Loading } from '../components/loading.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { Table } from '../components/table.tsx';
import { BalanceChart } from '../credits/balance-chart.tsx';
import { TopSpend } from '../credits/top-spend.tsx';
import {
  daysAgo,
  mergeKeys,
  type SpendTrend,
  spendTrend,
  spentBy,
  type UsageLine,
} from '../credits/usage.ts';
import { UsageChart } from '../credits/usage-chart.tsx';
import { kindLabel, usageLabel } from '../credits/usage-label.ts';
import { useUsage } from '../credits/use-usage.ts';
import { download } from '../download.ts';
import { countOf, formatBytes, formatNumber, formatShare } from '../format.ts';
import { goTo, linkTo } from '../router.ts';
import { creditsRemaining, session } from '../session.ts';
import { useStore } from '../store.ts';
import { useAction, useResource } from '../use-call.ts';
import { useRepeating } from '../use-repeating.ts';
import type { PageProps } from './page.ts';

const ranges = [
  { value: '7', label: 'Last 7 days' },
  { value: '30', label: 'Last 30 days' },
  { value: '90', label: 'Last 90 days' },
  { value: '365', label: 'Last 365 days' },
];
const SHOWN_LINES = 200;
const LOOK_AGAIN_MS = 15_000;

type Me = Calls['GET /v1/me']['response'];

/** The wallet, and what moved it. The choice of days and of operations is in the address. */
export function CreditsPage({ query }: PageProps) {
  const me = useResource<Me>('/v1/me');
  const wallet = me.data?.credits;
  // Credits are spent and added elsewhere, too: the menu shows that, and this page must show the same.
  const remaining = useStore(creditsRemaining);
  useEffect(() => {
    if (wallet !== undefined && wallet.remaining !== remaining) me.refresh();
  }, [remaining]);
  useRepeating(me.refresh, LOOK_AGAIN_MS);
  const days = ranges.find(({ value }) => value === query.get('days'))?.value ?? '30';
  const operation = query.get('operation') ?? '';
  const [from, to] = [daysAgo(Number(days) - 1), daysAgo(0)];
  const { usage, problem, retry } = useUsage(
    from,
    to,
    wallet && `${wallet.remaining} ${wallet.reserved}`,
  );
  const lines = usage?.lines ?? [];
  const nameOf = (line: UsageLine) => line.operation ?? line.kind;
  const names = [...new Set(lines.map(nameOf))].sort();
  const chosen = operation === '' ? lines : lines.filter((line) => nameOf(line) === operation);
  const balance = wallet && wallet.remaining + wallet.reserved;
  const named = useNames();
  const downloading = useAction((href: string) => download(href, '/v1/me'));
  const choose = (name: 'days' | 'operation', value: string) =>
    goTo('/credits', { ...Object.fromEntries(query), [name]: value }, true);
  return (
    <>
      <PageHeader title="Credits" about="Balance and usage." />
      <ProblemNotice problem={me.problem} onRetry={me.reload} />
      <div class="stack">
        <Balance me={me.data} />
        {usage?.isWhole && balance !== undefined && (
          <section class="card stack" aria-labelledby="balance-title">
            <h2 id="balance-title">Balance over time</h2>
            <BalanceChart lines={lines} from={from} to={to} balance={balance} />
          </section>
        )}
        <section class="card stack" aria-label="Usage">
          <div class="card-head">
            <h2>Usage</h2>
            <UsageFilters days={days} operation={operation} names={names} onChoose={choose} />
          </div>
          <ProblemNotice problem={problem} onRetry={retry} />
          {usage === undefined && problem === null && <Loading />}
          {usage !== undefined && chosen.length === 0 && (
            <EmptyState title="No credit activity">
              No credits were added or spent in this period (UTC).
            </EmptyState>
          )}
          {chosen.some(({ credits }) => credits < 0) && (
            <>
              <UsageChart lines={chosen} from={from} to={to} />
              <Trend of={spendTrend(chosen, from, to)} />
            </>
          )}
          <Spend lines={chosen} names={named} />
          {chosen.length > 0 && <Ledger lines={mergeKeys(chosen)} names={named} />}
          {chosen.length > 0 && (
            <div>
              <Button
                icon="download"
                isBusy={downloading.isBusy}
                onClick={() => downloading.run(`/v1/usage/lines.csv?from=${from}&to=${to}`)}
              >
                Download as CSV
              </Button>
              <ProblemNotice problem={downloading.problem} />
            </div>
          )}
          {usage !== undefined && !usage.isWhole && (
            <p class="hint">There is more than fits here. Choose fewer days to see everything.</p>
          )}
        </section>
      </div>
    </>
  );
}

/** Compares the latest week with the week before. */
function Trend({ of: trend }: { of: SpendTrend | null }) {
  if (trend === null) return null;
  const { days, latest, before } = trend;
  const more = latest - before;
  const change =
    before === 0
      ? `none in the ${days} days before`
      : more === 0
        ? `as many as in the ${days} days before`
        : `${more > 0 ? 'up' : 'down'} ${formatShare(Math.abs(more), before)} from ${formatNumber(before)} in the ${days} days before`;
  return (
    <p>
      <strong>
        Last {days} days: {countOf(latest, 'credit')}
      </strong>
      , {change}.
    </p>
  );
}

interface UsageFiltersProps {
  days: string;
  operation: string;
  /** The operations and kinds of the period. */
  names: readonly string[];
  onChoose: (name: 'days' | 'operation', value: string) => void;
}

function UsageFilters({ days, operation, names, onChoose }: UsageFiltersProps) {
  return (
    <div class="filters">
      <SelectField
        id="days"
        label="Days"
        options={ranges}
        value={days}
        onChange={(value) => onChoose('days', value)}
      />
      <SelectField
        id="operation"
        label="For"
        options={[
          { value: '', label: 'Everything' },
          ...names.map((name) => ({ value: name, label: usageLabel(name) })),
        ]}
        value={operation}
        onChange={(value) => onChoose('operation', value)}
      />
    </div>
  );
}

/** The lists, exports and keys that spent most. */
function Spend({ lines, names }: LedgerProps) {
  const keys = useResource<{ data: Key[] }>('/v1/keys?limit=100');
  const keyOf = (id: string) => keys.data?.data.find((key) => key.id === id);
  const total = lines.reduce((sum, { credits }) => sum + Math.max(0, -credits), 0);
  return (
    <>
      <TopSpend
        title="Spend by list and export"
        header="List or export"
        spent={spentBy(lines, ({ batch_id }) => batch_id)}
        total={total}
        nameOf={(id) => {
          const operation = lines.find(({ batch_id }) => batch_id === id)?.operation ?? null;
          return (
            <>
              <BatchLink id={id} name={names.get(id)} operation={operation} />
              {operation !== null && <small>{usageLabel(operation)}</small>}
            </>
          );
        }}
      />
      <TopSpend
        title="Spend by key"
        header="Key"
        spent={spentBy(lines, ({ key_id }) => key_id)}
        total={total}
        nameOf={(id) => keyOf(id)?.name ?? keyOf(id)?.prefix ?? 'Web console'}
      />
    </>
  );
}

function Balance({ me }: { me: Me | undefined }) {
  const { id, email } = session.get()?.account ?? {};
  const show = (value: number | undefined) => (value === undefined ? '–' : formatNumber(value));
  return (
    <section class="card stack tight" aria-label="Balance">
      <dl class="facts">
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
      {me?.owned_days === 0 && (
        <p class="hint">
          People you already paid for are charged again in the next list, search or export. Ask the
          administrator of this service to turn on <em>Pay once per person</em> with{' '}
          <code>enrich account set --account {email ?? id} --owned-days 90</code>
        </p>
      )}
    </section>
  );
}

function ownedFor(days: number): string {
  return days === 0 ? 'Off: every delivery is charged' : `For ${countOf(days, 'day')}`;
}

function showStorage({ stored_bytes: stored, stored_bytes_max: max }: Me['storage']): string {
  return `${formatBytes(stored)} of ${formatBytes(max)}`;
}

interface LedgerProps {
  lines: readonly UsageLine[];
  names: ReadonlyMap<string, string>;
}

function Ledger({ lines, names }: LedgerProps) {
  const shown = lines.slice(0, SHOWN_LINES);
  return (
    <>
      <Table
        caption="Credit activity, latest day first"
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
              id === null ? '–' : <BatchLink id={id} name={names.get(id)} operation={operation} />,
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

interface BatchLinkProps {
  id: string;
  /** Undefined for an old one, whose name is not read. */
  name: string | undefined;
  operation: string | null;
}

function BatchLink({ id, name, operation }: BatchLinkProps) {
  const place = operation === 'people.search' ? 'exports' : 'batches';
  return <a href={linkTo(`/${place}/${id}`)}>{name ?? `…${id.slice(-8)}`}</a>;
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
