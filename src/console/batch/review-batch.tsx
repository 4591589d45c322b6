/** A list that waits to be started: how it was read, what it holds, what it will cost. */
import { useEffect } from 'preact/hooks';
import { call } from '../api.ts';
import { Button } from '../components/button.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { countOf } from '../format.ts';
import { linkTo } from '../router.ts';
import { creditsRemaining } from '../session.ts';
import { useStore } from '../store.ts';
import { type Action, useAction, useResource } from '../use-call.ts';
import { type Batch, type Dialect, lists } from './batch.ts';
import { CancelButton } from './cancel-button.tsx';
import { MappingTable } from './mapping-table.tsx';
import { OutcomeList } from './outcome-list.tsx';
import type { Preview } from './preview.ts';
import type { Live } from './use-live-batch.ts';
import { type Choice, useMapping } from './use-mapping.ts';
import { useMovedOn } from './use-moved-on.ts';

export function ReviewBatch({ batch, live }: { batch: Batch; live: Live<Batch> }) {
  const path = `/v1/batches/${batch.id}`;
  const preview = useResource<Preview>(`${path}/preview`);
  const quoting = useAction(async () => live.show(await call('POST', `${path}/quote`)));
  const choice = useMapping(batch, live, () => {
    quoting.clear();
    preview.reload();
  });
  const starting = useAction(async () => live.show(await call('POST', `${path}/start`)));
  useMovedOn([choice, quoting, starting], live);
  const { run: askPrice, isBusy, problem } = quoting;
  // Also after a change: what it cost before does not hold any more.
  const needsPrice = batch.quote === null && batch.rows.total !== 0 && problem === null && !isBusy;
  useEffect(() => {
    if (needsPrice) askPrice();
  }, [needsPrice, askPrice]);
  return (
    <>
      <section class="card" aria-labelledby="columns-title">
        <h2 id="columns-title">Is this your list?</h2>
        <DialectFacts batch={batch} />
        <ProblemNotice problem={preview.problem} onRetry={preview.reload} />
        {preview.data && <MappingTable batch={batch} preview={preview.data} choice={choice} />}
      </section>
      <PricePanel batch={batch} quoting={quoting} starting={starting} choice={choice} live={live} />
    </>
  );
}

const delimiterNames: Record<string, string> = {
  ',': 'comma',
  ';': 'semicolon',
  '\t': 'tab',
  '|': 'vertical bar',
};

function DialectFacts({ batch }: { batch: Batch }) {
  const { encoding, delimiter, header_row: headerRow, sheet, doubts } = batch.dialect;
  const facts: { name: string; value: string; doubt: Doubt }[] = [
    { name: 'Encoding', value: encoding.toUpperCase(), doubt: 'encoding' },
    { name: 'Between cells', value: delimiterNames[delimiter] ?? delimiter, doubt: 'delimiter' },
    { name: 'Header row', value: headerRow === 0 ? 'none' : String(headerRow), doubt: 'header' },
  ];
  if (sheet !== null) facts.push({ name: 'Sheet', value: sheet, doubt: 'sheet' });
  return (
    <>
      <dl class="facts">
        <div>
          <dt>Rows</dt>
          <dd>{batch.rows.total === null ? '…' : countOf(batch.rows.total, 'row')}</dd>
        </div>
        {facts.map(({ name, value, doubt }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {value}
              {doubts.includes(doubt) && <span class="doubt">a guess: please check</span>}
            </dd>
          </div>
        ))}
      </dl>
      <p class="soft">
        Letters look wrong, or cells are cut in the wrong places?{' '}
        <a href={linkTo('/batches/new', { again: batch.id })}>Read it in another way</a>
      </p>
    </>
  );
}

type Doubt = Dialect['doubts'][number];

interface PricePanelProps {
  batch: Batch;
  quoting: Action<void>;
  starting: Action<void>;
  choice: Choice;
  live: Live<Batch>;
}

function PricePanel({ batch, quoting, starting, choice, live }: PricePanelProps) {
  const { quote, rows } = batch;
  const hasPrice = quote?.state === 'done' && choice.isSaved;
  const full = hasPrice ? (quote.credits ?? 0) : null;
  const limit = batch.live ? batch.credits.max : null;
  const credits = full === null || limit === null ? full : Math.min(full, limit);
  const isFew = quote?.credits_is === 'at_most';
  const most = isFew || (full !== null && credits !== full) ? 'up to ' : '';
  const isUnderWay = choice.isUsable && choice.problem === null && quoting.problem === null;
  const isWaiting = isUnderWay && !hasPrice && rows.total !== 0;
  return (
    <section class="card" aria-labelledby="price-title">
      <h2 id="price-title">What it will cost</h2>
      <div aria-live="polite" aria-busy={isWaiting}>
        {rows.total === 0 && <p class="soft">The list has no rows.</p>}
        {isWaiting && (
          <p class="loading-line">
            <span class="spinner" aria-hidden="true" /> Looking every row up, which is free …
          </p>
        )}
        {credits !== null && (
          <>
            <p class="price">
              <strong>
                {most}
                {countOf(credits, 'credit')}
              </strong>
              <span class="soft">
                {batch.live
                  ? 'for the rows that match now; nothing for the others'
                  : 'in test mode'}
              </span>
            </p>
            {isFew && (
              <p class="soft">
                Fewer than 10 rows match, perhaps none: so few are not counted for free.
              </p>
            )}
            {full !== null && credits < full && (
              <p class="soft">
                The whole list costs {countOf(full, 'credit')}; you set a limit of{' '}
                {countOf(credits, 'credit')}.
              </p>
            )}
            <OutcomeList counts={quote?.rows ?? {}} total={rows.total ?? 0} />
            {quote?.affordable === false && <TooExpensive />}
          </>
        )}
      </div>
      <ProblemNotice problem={quoting.problem} onRetry={() => quoting.run()} />
      <ProblemNotice problem={starting.problem} />
      <div class="buttons">
        <Button
          kind="primary"
          isBusy={starting.isBusy}
          isDisabled={!choice.isSaved}
          onClick={() => starting.run()}
        >
          {credits === null
            ? 'Start without waiting'
            : `Start for ${most}${countOf(credits, 'credit')}`}
        </Button>
        <CancelButton item={batch} of={lists} live={live} />
      </div>
    </section>
  );
}

function TooExpensive() {
  const remaining = useStore(creditsRemaining);
  return (
    <p class="notice warn">
      This may be more than the account holds
      {remaining === null ? '' : `: ${countOf(remaining, 'credit')}`}. You can start it all the
      same: it pauses when the credits are used up, and goes on by itself when there are more.
    </p>
  );
}
