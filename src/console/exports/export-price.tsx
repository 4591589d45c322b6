import { call } from '../api.ts';
import { exportFiles, rowsOf } from '../batch/batch.ts';
import { CancelButton } from '../batch/cancel-button.tsx';
import { tellMovedOn } from '../batch/moved-on.ts';
import type { Live } from '../batch/use-live-batch.ts';
import { Button } from '../components/button.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { countOf, formatNumber, mostOf, totalOf } from '../format.ts';
import { PERSON_PRICE } from '../priced-operations.ts';
import { creditsRemaining } from '../session.ts';
import { useStore } from '../store.ts';
import { useAction } from '../use-call.ts';
import type { ExportFile } from './export-file.ts';
import { PaidAgain } from './paid-again.tsx';

interface ExportPriceProps {
  file: ExportFile;
  live: Live<ExportFile>;
}

/** The price of an export that waits to be started. */
export function ExportPrice({ file, live }: ExportPriceProps) {
  const remaining = useStore(creditsRemaining);
  const starting = useAction(async () =>
    live.show(await tellMovedOn(live, call('POST', `/v1/exports/${file.id}/start`))),
  );
  const found = rowsOf(file);
  const full = file.estimated_credits;
  const owned = file.estimated_owned ?? 0;
  const limit = file.credits.max;
  const isCut = limit !== null && (full === null || limit < full);
  const price = isCut ? countOf(limit, 'credit') : priceOf(file);
  const most = isCut ? limit : full;
  const cap = (file.max_results ?? Number.POSITIVE_INFINITY) * PERSON_PRICE;
  return (
    <section class="card" aria-labelledby="price-title">
      <h2 id="price-title">Cost</h2>
      <p class="price">
        <strong>{price}</strong>
        <span class="soft">
          {!file.live
            ? 'in test mode'
            : found === null
              ? 'for each person who is found'
              : `for ${totalOf(found, 'person', 'people')}`}
        </span>
      </p>
      {owned > 0 && (
        <p class="notice">
          You already have {formatNumber(owned)} of these. They are not charged again.
        </p>
      )}
      {file.live && !isCut && found?.total_is === 'about' && (
        <p class="soft">
          The count is approximate until you pay:{' '}
          {countOf(Math.min((mostOf(found) - owned) * PERSON_PRICE, cap), 'credit')} at most.
        </p>
      )}
      {file.live && <PaidAgain />}
      <p class="soft">
        This export is locked to these people. Anyone who opts out before it finishes is skipped and
        not charged.
        {found === null &&
          ' A search by name, address, number or profile is counted once it is paid for.'}
      </p>
      {isCut && (
        <p class="notice warn">
          The export stops at your limit of {price}. The other people are not in the file.
        </p>
      )}
      {file.live && remaining !== null && most !== null && remaining < most && (
        <p class="notice warn">
          This may cost more than the account has: {countOf(remaining, 'credit')}. You can still
          start it: it pauses when the credits are used up, and resumes automatically when credits
          are added.
        </p>
      )}
      <ProblemNotice problem={starting.problem} />
      <div class="buttons">
        <Button kind="primary" isBusy={starting.isBusy} onClick={() => starting.run()}>
          {file.live && found !== null ? `Start for ${price}` : 'Start'}
        </Button>
        <CancelButton item={file} of={exportFiles} live={live} />
      </div>
    </section>
  );
}

function priceOf({ live, estimated_credits: total, total_is }: ExportFile): string {
  if (!live) return countOf(0, 'credit');
  if (total === null || total_is === null) return countOf(PERSON_PRICE, 'credit');
  return totalOf({ total, total_is }, 'credit');
}
