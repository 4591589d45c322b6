import { call } from '../api.ts';
import { announce } from '../components/announcer.tsx';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { Table } from '../components/table.tsx';
import { Time } from '../components/time.tsx';
import { formatTime } from '../format.ts';
import { type List, useAction } from '../use-call.ts';
import { type Delivery, deliveryState } from './webhook-words.ts';

interface DeliveriesProps {
  webhookId: string;
  list: List<Delivery>;
  /** Called when one of them is sent again. */
  onSent: () => void;
}

/** The deliveries of a webhook, newest first; each can be sent again. */
export function Deliveries({ webhookId, list, onSent }: DeliveriesProps) {
  const { items } = list;
  const replaying = useAction(async (delivery: Delivery) => {
    await call('POST', `/v1/webhooks/${webhookId}/deliveries/${delivery.id}/replay`);
    announce(`${delivery.type} is sent again.`);
    onSent();
  });
  if (items?.length === 0) {
    return (
      <EmptyState title="Nothing has been sent yet">
        Send a test event to see what your program receives.
      </EmptyState>
    );
  }
  return (
    <>
      <ProblemNotice problem={replaying.problem ?? list.problem} onRetry={list.reload} />
      {items && (
        <Table
          caption="Deliveries, newest first"
          rows={items}
          keyOf={({ id }) => id}
          columns={[
            { header: 'Event', cell: ({ type }) => <span class="unbroken">{type}</span> },
            {
              header: 'Status',
              cell: ({ state }) => {
                const { label, tone } = deliveryState(state);
                return <Badge tone={tone}>{label}</Badge>;
              },
            },
            {
              header: 'Response',
              cell: (delivery) => <span class="lines">{describeAnswer(delivery)}</span>,
            },
            { header: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts },
            {
              header: 'Created',
              cell: ({ created_at }) => <Time at={created_at} />,
            },
            {
              header: 'Payload',
              cell: ({ type, payload }) => (
                <details>
                  <summary>
                    Show<span class="unseen"> the payload of {type}</span>
                  </summary>
                  <pre class="payload">{JSON.stringify(payload, null, 2)}</pre>
                </details>
              ),
            },
            {
              header: 'Actions',
              cell: (delivery) => (
                <Button
                  kind="quiet"
                  isBusy={replaying.isBusy}
                  onClick={() => replaying.run(delivery)}
                >
                  Send again<span class="unseen"> {delivery.type}</span>
                </Button>
              ),
            },
          ]}
        />
      )}
      {list.hasMore && (
        <div class="more">
          <Button isBusy={list.isLoading} onClick={list.loadMore}>
            Show older deliveries
          </Button>
        </div>
      )}
    </>
  );
}

function describeAnswer({ response_status: status, error, next_attempt_at: next }: Delivery) {
  const answer = error ?? (status === null ? 'not tried yet' : `HTTP ${status}`);
  return next === null ? answer : `${answer}; next try ${formatTime(next)}`;
}
