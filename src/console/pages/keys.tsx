import { useContext, useState } from 'preact/hooks';
import { now } from '../clock.ts';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { Loading } from '../components/loading.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { ShowOnce } from '../components/shown-once-dialog.tsx';
import { Table } from '../components/table.tsx';
import { Time } from '../components/time.tsx';
import { daysAgo, spentBy } from '../credits/usage.ts';
import { useUsage } from '../credits/use-usage.ts';
import { countOf, formatDay, formatNumber, formatTime } from '../format.ts';
import { type Key, type MadeKey, scopes, stateOf } from '../keys/key.ts';
import { KeyActions } from '../keys/key-actions.tsx';
import { MakeKeyDialog } from '../keys/make-key-dialog.tsx';
import { useList } from '../use-call.ts';

/** The account's keys: what each may do, and making, replacing and ending them. */
export function KeysPage() {
  const keys = useList<Key>('/v1/keys');
  const [isMaking, setIsMaking] = useState(false);
  const showOnce = useContext(ShowOnce);
  const { items } = keys;
  const show = (key: MadeKey) => {
    setIsMaking(false);
    showOnce({
      noun: 'key',
      text: key.key,
      about: {
        kept: 'We don’t store it, and anyone who has it can spend your credits.',
        lost: `Rotate the key ${key.prefix}… to get a new one with the same settings.`,
      },
    });
    keys.reload();
  };
  const makeButton = (
    <Button kind="primary" icon="plus" onClick={() => setIsMaking(true)}>
      New key
    </Button>
  );
  return (
    <>
      <PageHeader
        title="Keys"
        about="API keys let your apps access this account."
        actions={items?.length === 0 ? null : makeButton}
      />
      <ProblemNotice problem={keys.problem} onRetry={keys.reload} />
      {items === undefined && keys.isLoading && <Loading />}
      {items?.length === 0 && (
        <EmptyState title="No keys yet" action={makeButton}>
          A key lets a program look up records, upload lists and search, within the limits that you
          give it.
        </EmptyState>
      )}
      {items !== undefined && items.length > 0 && (
        <KeyTable keys={items} onRolled={show} onChanged={keys.reload} />
      )}
      {keys.hasMore && (
        <div class="more">
          <Button isBusy={keys.isLoading} onClick={keys.loadMore}>
            Show older keys
          </Button>
        </div>
      )}
      {isMaking && <MakeKeyDialog onMade={show} onClose={() => setIsMaking(false)} />}
    </>
  );
}

interface KeyTableProps {
  keys: Key[];
  onRolled: (made: MadeKey) => void;
  onChanged: () => void;
}

function KeyTable({ keys, onRolled, onChanged }: KeyTableProps) {
  const { usage } = useUsage(daysAgo(29), daysAgo(0));
  // The table stands without it.
  const spent = usage?.isWhole === true ? spentBy(usage.lines, ({ key_id }) => key_id) : null;
  return (
    <Table
      caption="Keys, newest first"
      rows={keys}
      keyOf={({ id }) => id}
      columns={[
        {
          header: 'Key',
          cell: (key) => (
            <>
              {key.name ?? 'Unnamed key'}
              <small>
                <code>{key.prefix}…</code>
              </small>
              <small>Created {formatDay(key.created_at)}</small>
            </>
          ),
        },
        { header: 'Status', cell: (key) => <KeyState shown={key} /> },
        {
          header: 'Last used',
          cell: ({ last_used_at: at }) =>
            at === null ? <span class="soft">Never</span> : <Time at={at} />,
        },
        {
          header: 'Requests today',
          isNumber: true,
          cell: (key) => (
            <span class="lines">
              {formatNumber(key.requests_today)}
              <small>of {formatNumber(key.requests_per_day)}</small>
            </span>
          ),
        },
        {
          header: 'Credits, 30 days',
          isNumber: true,
          cell: ({ id }) => (spent === null ? '–' : formatNumber(spent.get(id) ?? 0)),
        },
        { header: 'Limits and permissions', cell: (key) => <Allowed shown={key} /> },
        {
          header: 'Actions',
          cell: (key) =>
            stateOf(key, now()).isInForce &&
            key.expires_at === null && (
              <KeyActions keyShown={key} onRolled={onRolled} onChanged={onChanged} />
            ),
        },
      ]}
    />
  );
}

/** The permissions and limits of a key. */
function Allowed({ shown }: { shown: Key }) {
  const { requests_per_minute: requests, credits_per_day: credits, scopes: own } = shown;
  return (
    <span class="lines words">
      {countOf(requests, 'request')} per minute
      {credits !== null && <span>{countOf(credits, 'credit')} per day</span>}
      <small>{own.map(scopeLabel).join(', ')}</small>
    </span>
  );
}

function KeyState({ shown }: { shown: Key }) {
  const { label, tone, isInForce } = stateOf(shown, now());
  const endsAt = shown.revoked_at ?? shown.expires_at;
  return (
    <span class="lines">
      <span>
        <Badge tone={tone}>{label}</Badge>
      </span>
      {endsAt !== null && (
        <small>
          {isInForce && 'until '}
          {formatTime(endsAt)}
        </small>
      )}
    </span>
  );
}

function scopeLabel(name: string): string {
  return scopes.find((scope) => scope.name === name)?.label.toLowerCase() ?? name;
}
