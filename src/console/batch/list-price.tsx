/** The price of a held list, what it consists of, and the button that starts it. */
import { call } from '../api.ts';
import { Button } from '../components/button.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { countOf, formatNumber } from '../format.ts';
import { type Problem, pageProblem } from '../problem.ts';
import { linkTo } from '../router.ts';
import { creditsRemaining, session } from '../session.ts';
import { useStore } from '../store.ts';
import { type Action, useAction } from '../use-call.ts';
import { type Batch, lists } from './batch.ts';
import { CancelButton } from './cancel-button.tsx';
import { tellMovedOn } from './moved-on.ts';
import { findOperation } from './operations.ts';
import { OutcomeList } from './outcome-list.tsx';
import type { Live } from './use-live-batch.ts';
import type { Price, Pricing } from './use-price.ts';

interface PriceProps {
  batch: Batch;
  pricing: Pricing;
}

/** The rows of the list by what they will come to. */
export function CostCard({ batch, pricing }: PriceProps) {
  const { quote, rows } = batch;
  const price = pricing.price;
  return (
    <section class="card stack tight" aria-labelledby="price-title">
      <h2 id="price-title">Cost</h2>
      {rows.total === 0 && <p class="soft">The list has no rows.</p>}
      {price === null && rows.total !== 0 && <p class="soft">{sayWaiting(pricing)}</p>}
      {price !== null && (
        <>
          <p class="soft">
            {batch.live ? 'You’re only charged for matches' : 'Test mode: nothing is charged'}
            {batch.live && price.credits > 0
              ? ', and never more than this price: the list pauses there if more rows match by then.'
              : '.'}
            {price.isFew && (
              <>
                {' '}
                Fewer than 10 rows match, perhaps none: so few are not counted. Expected more? Rows
                match the records that <Importers />.
              </>
            )}
          </p>
          {price.isCut && (
            <p class="soft">
              The whole list costs {countOf(price.full, 'credit')}; it stops at your limit of{' '}
              {countOf(price.credits, 'credit')}.
            </p>
          )}
          {quote !== null && (quote.owned ?? 0) > 0 && (
            <p class="soft">
              You already have {formatNumber(quote.owned ?? 0)} of these. They are not charged
              again.
            </p>
          )}
          <OutcomeList counts={quote?.rows ?? {}} total={rows.total ?? 0} />
          {quote?.affordable === false && <TooExpensive />}
        </>
      )}
      <ProblemNotice problem={pricing.problem} onRetry={pricing.retry} />
    </section>
  );
}

/** The origin of the records: for an operator, the page on which they are imported. */
function Importers() {
  if (!session.get()?.key.scopes.includes('admin')) return <>your operator has imported</>;
  return (
    <>
      were imported under <a href={linkTo('/data')}>Data</a>
    </>
  );
}

function sayWaiting({ isUsable }: Pricing): string {
  return isUsable
    ? 'Calculating the price… (free)'
    : 'Choose at least one column to match on to see the price.';
}

function TooExpensive() {
  const remaining = useStore(creditsRemaining);
  return (
    <p class="notice warn">
      {remaining === null ? '' : `You have ${countOf(remaining, 'credit')}. `}
      We’ll stop when your credits run out and resume automatically when you add more.
    </p>
  );
}

/** Throws `Problem` for a held list that is no longer read, matched and limited as it is shown. */
async function assertShown(batch: Batch): Promise<void> {
  const now = await call<Batch>('GET', `/v1/batches/${batch.id}`);
  if (now.state !== 'ready' || choicesOf(now) === choicesOf(batch)) return;
  throw pageProblem(
    'invalid_state',
    'This list was changed in another tab. Check it before you start it.',
  );
}

function choicesOf(batch: Batch): string {
  const { mapping, dialect, fields, dedupe, match, credits } = batch;
  const { require_agreement: agreement, default_region: region } = batch;
  const read = [mapping, dialect, region];
  return JSON.stringify([...read, fields, dedupe, match, agreement, credits.max]);
}

/** Starts the list as the page shows it, for no more than the `price` that it shows. */
export function useStart(batch: Batch, live: Live<Batch>, price: Price | null): Action<void> {
  const path = `/v1/batches/${batch.id}`;
  return useAction(async () => {
    await tellMovedOn(live, assertShown(batch));
    // The price is a promise, also when more rows match by now than when they were counted.
    if (price !== null && batch.live) {
      // A list of owned people is free; no limit is below one match.
      const one = findOperation(batch.operation)?.price ?? 1;
      const body = { max_credits: Math.max(price.credits, one) };
      live.show(await tellMovedOn(live, call('PATCH', path, { body })));
    }
    live.show(await tellMovedOn(live, call('POST', `${path}/start`)));
  });
}

interface StartBarProps extends PriceProps {
  live: Live<Batch>;
  starting: Action<void>;
  /** The mapping or an option that the service refuses, or has not saved yet. */
  isSaved: boolean;
  refusal: Problem | null;
}

/** Price and Start, always in view. */
export function StartBar({ batch, pricing, live, starting, isSaved, refusal }: StartBarProps) {
  const { price, isUsable, problem } = pricing;
  // A price of 0 may also mean that the account owns every person who matches.
  const matched = batch.quote?.rows?.matched ?? 0;
  const isPointless = batch.rows.total === 0 || (price?.full === 0 && batch.live && matched === 0);
  const isStartable = isSaved && isUsable && !isPointless && refusal === null;
  return (
    <div class="start-bar">
      <ProblemNotice problem={starting.problem} />
      <div class="start-line">
        <div class="start-price" aria-live="polite" aria-busy={price === null && problem === null}>
          {price === null ? (
            <span class="soft">{problem === null ? sayWaiting(pricing) : 'No price yet.'}</span>
          ) : isPointless ? (
            <strong>No row can be matched</strong>
          ) : (
            <>
              <strong>
                {price.most}
                {countOf(price.credits, 'credit')}
              </strong>
              <span class="soft">
                {batch.live
                  ? `${price.most === '' ? 'at most; ' : ''}only matches are charged`
                  : 'in test mode, free'}
              </span>
            </>
          )}
        </div>
        <div class="buttons">
          <CancelButton item={batch} of={lists} live={live} />
          <Button
            kind="primary"
            isBusy={starting.isBusy}
            isDisabled={!isStartable || (price === null && problem === null)}
            onClick={() => starting.run()}
          >
            {price !== null
              ? `Start for ${price.most}${countOf(price.credits, 'credit')}`
              : problem === null
                ? 'Start'
                : 'Start without a price'}
          </Button>
        </div>
      </div>
    </div>
  );
}
