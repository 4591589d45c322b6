import { useContext, useEffect, useState } from 'preact/hooks';
import { call } from '../api.ts';
import { announce, readOut } from '../components/announcer.tsx';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { ConfirmDialog, Dialog } from '../components/dialog.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { Fact } from '../components/fact.tsx';
import { fromHere } from '../components/lead-on.ts';
import { Loading } from '../components/loading.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { ShowOnce } from '../components/shown-once-dialog.tsx';
import { countOf, formatNumber, formatShare, formatTime } from '../format.ts';
import { linkTo } from '../router.ts';
import { useAction, useList, useResource } from '../use-call.ts';
import { changedParts } from '../use-changes.ts';
import { Deliveries } from '../webhooks/deliveries.tsx';
import { type WebhookBody, WebhookForm } from '../webhooks/webhook-form.tsx';
import {
  type Delivery,
  stateOf,
  type Webhook,
  type WebhookWithSecret,
} from '../webhooks/webhook-words.ts';
import type { PageProps } from './page.ts';

const back = { href: linkTo('/webhooks'), label: 'Webhooks' };

/** One webhook: its settings, its secret, and what it was sent. */
export function WebhookPage({ params: { id = '' } }: PageProps) {
  const path = `/v1/webhooks/${id}`;
  const webhook = useResource<Webhook>(path);
  const deliveries = useList<Delivery>(`${path}/deliveries`);
  const reload = () => {
    webhook.reload();
    deliveries.reload();
  };
  // What was just sent is answered within seconds, and may switch the state of the webhook.
  const isWaiting = deliveries.items?.some(({ state }) => state === 'pending') === true;
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (!isWaiting || round === READ_AGAIN_MAX) return;
    const timer = setTimeout(() => {
      reload();
      setRound(round + 1);
    }, READ_AGAIN_MS);
    return () => clearTimeout(timer);
  }, [isWaiting, round]);
  const watchSent = () => {
    reload();
    setRound(0);
  };
  if (webhook.problem?.status === 404) return <NotFound />;
  if (webhook.data === undefined) {
    return (
      <>
        <PageHeader title="Webhook" back={back} />
        {webhook.problem === null ? (
          <Loading />
        ) : (
          <ProblemNotice problem={webhook.problem} onRetry={webhook.reload} />
        )}
      </>
    );
  }
  const { url, failing_since: failing, disabled_reason: reason } = webhook.data;
  const { label, tone } = stateOf(webhook.data);
  return (
    <>
      <PageHeader title={url} about={<Badge tone={tone}>{label}</Badge>} back={back} />
      <div class="stack">
        {reason !== null && <p class="notice warn">It was switched off: {plain(reason)}.</p>}
        {failing !== null && (
          <p class="notice warn">Deliveries have been failing since {formatTime(failing)}.</p>
        )}
        <WebhookActions webhook={webhook.data} onChanged={webhook.replace} onSent={watchSent} />
        <WebhookFacts webhook={webhook.data} deliveries={deliveries.items ?? []} />
        <section class="stack" aria-label="Deliveries">
          <div class="card-head">
            <h2>Deliveries</h2>
            <Button isBusy={deliveries.isLoading} onClick={reload}>
              Refresh
            </Button>
          </div>
          <Deliveries webhookId={id} list={deliveries} onSent={watchSent} />
        </section>
      </div>
    </>
  );
}

/** The page reads again while a message is on its way, but not through the hours of its retries. */
const READ_AGAIN_MS = 2000;
const READ_AGAIN_MAX = 10;

function NotFound() {
  return (
    <>
      <PageHeader title="Webhook not found" back={back} />
      <EmptyState title="The link may be wrong, or it may have been deleted">
        It may have been deleted, or belong to another account or mode.
      </EmptyState>
    </>
  );
}

const STRIP_MAX = 50;

/** Which events it receives, and how its last deliveries went. */
function WebhookFacts({ webhook, deliveries }: { webhook: Webhook; deliveries: Delivery[] }) {
  const last = deliveries.slice(0, STRIP_MAX).toReversed();
  const ended = last.filter(({ state }) => state !== 'pending');
  const arrived = ended.filter(({ state }) => state === 'delivered').length;
  const words =
    ended.length === 1
      ? `The last delivery ${arrived === 1 ? 'arrived' : 'failed'}`
      : `${formatNumber(arrived)} of the last ${countOf(ended.length, 'delivery', 'deliveries')} arrived, oldest first`;
  return (
    <section class="card stack tight" aria-label="Settings">
      <dl class="facts">
        <Fact name="Events">
          <span class="words">{webhook.events.join(', ')}</span>
        </Fact>
        {webhook.events.includes('credits.low') && (
          <Fact name="Low-credit alert below">{formatNumber(webhook.credits_low_threshold)}</Fact>
        )}
        {ended.length > 0 && <Fact name="Success">{formatShare(arrived, ended.length)}</Fact>}
      </dl>
      {ended.length > 0 && (
        <div>
          <div class="strip" role="img" aria-label={words}>
            {last.map(({ id, state, type, created_at }) => (
              <span key={id} class={state} title={`${type}: ${state}, ${formatTime(created_at)}`} />
            ))}
          </div>
          <p class="hint">{words}.</p>
        </div>
      )}
    </section>
  );
}

interface SteeringProps {
  webhook: Webhook;
  onChanged: (webhook: Webhook) => void;
  onSent: () => void;
}

type Asked = 'edit' | 'rotate' | 'delete' | null;

function WebhookActions({ webhook, onChanged, onSent }: SteeringProps) {
  const path = pathOf(webhook);
  const [asked, setAsked] = useState<Asked>(null);
  const showOnce = useContext(ShowOnce);
  const testing = useAction(async () => {
    await call('POST', `${path}/test`);
    announce('A test event is on its way.');
    onSent();
  });
  const switching = useAction(async () => {
    onChanged(await call('PATCH', path, { body: { enabled: !webhook.enabled } }));
    readOut(`The webhook is ${webhook.enabled ? 'off' : 'on'}`);
  });
  const close = () => setAsked(null);
  return (
    <>
      <ProblemNotice problem={testing.problem ?? switching.problem} />
      <div class="buttons">
        <Button kind="primary" isBusy={testing.isBusy} onClick={() => testing.run()}>
          Send a test event
        </Button>
        <Button isBusy={switching.isBusy} onClick={() => switching.run()}>
          {webhook.enabled ? 'Switch off' : 'Switch on'}
        </Button>
        <Button onClick={() => setAsked('edit')}>Change</Button>
        <Button onClick={() => setAsked('rotate')}>Rotate the secret</Button>
        <Button kind="danger" onClick={() => setAsked('delete')}>
          Delete
        </Button>
      </div>
      {asked === 'edit' && <EditDialog webhook={webhook} onChanged={onChanged} onClose={close} />}
      {asked === 'rotate' && (
        <RotateDialog
          webhook={webhook}
          onRotated={({ secret: text, ...rotated }) => {
            onChanged(rotated);
            showOnce({
              noun: 'secret',
              text,
              about: {
                kept: 'Use it to verify that events come from us.',
                lost: 'Rotate the secret once more to get another one.',
              },
            });
          }}
          onClose={close}
        />
      )}
      {asked === 'delete' && <DeleteDialog webhook={webhook} onClose={close} />}
    </>
  );
}

interface DialogProps {
  webhook: Webhook;
  onClose: () => void;
}

function EditDialog({
  webhook,
  onChanged,
  onClose,
}: DialogProps & Pick<SteeringProps, 'onChanged'>) {
  // The page may show a later state by now.
  const [opened] = useState(webhook);
  const editing = useAction(async (body: WebhookBody) => {
    onChanged(await call('PATCH', pathOf(webhook), { body: changedParts(opened, body) }));
    onClose();
  });
  return (
    <Dialog title="Change the webhook" onClose={onClose}>
      <WebhookForm initial={opened} label="Save changes" action={editing} onClose={onClose} />
    </Dialog>
  );
}

interface RotateDialogProps extends DialogProps {
  onRotated: (webhook: WebhookWithSecret) => void;
}

function RotateDialog({ webhook, onRotated, onClose }: RotateDialogProps) {
  const rotating = useAction(async () => {
    onRotated(await call<WebhookWithSecret>('POST', `${pathOf(webhook)}/rotate`, { body: {} }));
    onClose();
  });
  return (
    <ConfirmDialog
      title="Rotate the signing secret?"
      confirm="Rotate the secret"
      kind="primary"
      action={rotating}
      onClose={onClose}
    >
      For 24 hours messages are signed with both, so that your program can switch.
    </ConfirmDialog>
  );
}

function DeleteDialog({ webhook, onClose }: DialogProps) {
  const deleting = useAction(async () => {
    const leadOn = fromHere();
    await call('DELETE', pathOf(webhook));
    leadOn('/webhooks', 'The webhook was deleted.');
  });
  return (
    <ConfirmDialog
      title="Delete this webhook?"
      confirm="Delete the webhook"
      action={deleting}
      onClose={onClose}
    >
      Pending deliveries are not sent, and the list of deliveries is deleted too.
    </ConfirmDialog>
  );
}

function pathOf({ id }: Webhook): string {
  return `/v1/webhooks/${id}`;
}

function plain(reason: string): string {
  return reason.replaceAll('_', ' ');
}
