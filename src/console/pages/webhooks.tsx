import { useContext, useState } from 'preact/hooks';
import { call } from '../api.ts';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { Loading } from '../components/loading.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { ShowOnce } from '../components/shown-once-dialog.tsx';
import { Table } from '../components/table.tsx';
import { Time } from '../components/time.tsx';
import { countOf } from '../format.ts';
import { goTo, linkTo } from '../router.ts';
import { useAction, useList } from '../use-call.ts';
import { type WebhookBody, WebhookForm } from '../webhooks/webhook-form.tsx';
import { stateOf, type Webhook, type WebhookWithSecret } from '../webhooks/webhook-words.ts';

/** Addresses that are told of events. */
export function WebhooksPage() {
  const webhooks = useList<Webhook>('/v1/webhooks');
  const [isMaking, setIsMaking] = useState(false);
  const showOnce = useContext(ShowOnce);
  const making = useAction(async (body: WebhookBody) => {
    const { id, secret } = await call<WebhookWithSecret>('POST', '/v1/webhooks', { body });
    setIsMaking(false);
    showOnce({
      noun: 'secret',
      text: secret,
      about: {
        kept: 'Use it to verify that events come from us.',
        lost: 'Rotate the secret on the webhook’s page to get a new one.',
      },
      onClose: () => goTo(`/webhooks/${id}`),
    });
  });
  const { items } = webhooks;
  const makeButton = (
    <Button kind="primary" icon="plus" onClick={() => setIsMaking(true)}>
      New webhook
    </Button>
  );
  return (
    <>
      <PageHeader
        title="Webhooks"
        about="Get notified when a list finishes or credits run low."
        actions={items?.length === 0 ? null : makeButton}
      />
      <ProblemNotice problem={webhooks.problem} onRetry={webhooks.reload} />
      {items === undefined && webhooks.isLoading && <Loading />}
      {items?.length === 0 && (
        <EmptyState title="No webhooks yet" action={makeButton}>
          A webhook is a URL of yours that receives a signed message for each event.
        </EmptyState>
      )}
      {items !== undefined && items.length > 0 && <WebhookTable webhooks={items} />}
      {isMaking && (
        <Dialog title="New webhook" onClose={() => setIsMaking(false)}>
          <WebhookForm label="Create webhook" action={making} onClose={() => setIsMaking(false)} />
        </Dialog>
      )}
    </>
  );
}

function WebhookTable({ webhooks }: { webhooks: readonly Webhook[] }) {
  return (
    <Table
      caption="Webhooks, newest first"
      rows={webhooks}
      keyOf={({ id }) => id}
      columns={[
        {
          header: 'Address',
          cell: ({ id, url }) => <a href={linkTo(`/webhooks/${id}`)}>{url}</a>,
        },
        {
          header: 'Status',
          cell: (webhook) => <Badge tone={stateOf(webhook).tone}>{stateOf(webhook).label}</Badge>,
        },
        { header: 'Events', cell: ({ events }) => countOf(events.length, 'kind') },
        {
          header: 'Created',
          cell: ({ created_at }) => <Time at={created_at} />,
        },
      ]}
    />
  );
}
