import { call } from '../api.ts';
import { exportFiles } from '../batch/batch.ts';
import { CancelButton } from '../batch/cancel-button.tsx';
import type { Live } from '../batch/use-live-batch.ts';
import { useMovedOn } from '../batch/use-moved-on.ts';
import { Button } from '../components/button.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { countOf, formatNumber } from '../format.ts';
import { creditsRemaining } from '../session.ts';
import { useStore } from '../store.ts';
import { useAction } from '../use-call.ts';
import type { ExportFile } from './export-file.ts';

interface ExportPriceProps {
  file: ExportFile;
  live: Live<ExportFile>;
}

/** What an export that waits to be started will cost. */
export function ExportPrice({ file, live }: ExportPriceProps) {
  const remaining = useStore(creditsRemaining);
  const starting = useAction(async () =>
    live.show(await call('POST', `/v1/exports/${file.id}/start`)),
  );
  useMovedOn([starting], live);
  const people = file.rows.total ?? 0;
  const full = file.estimated_credits ?? 0;
  const price = Math.min(full, file.credits.max ?? full);
  return (
    <section class="card" aria-labelledby="price-title">
      <h2 id="price-title">What it will cost</h2>
      <p class="price">
        <strong>{countOf(price, 'credit')}</strong>
        <span class="soft">
          {file.live ? `for ${countOf(people, 'person', 'people')}` : 'in test mode'}
        </span>
      </p>
      <p class="soft">
        It is these people and no others, even when more come to fit the filter. Who is deleted or
        opts out before the file is written is left out and costs nothing.
      </p>
      {price < full && (
        <p class="notice warn">
          At {countOf(price, 'credit')} it ends, as you said: {formatNumber(full - price)} of the
          people are left out.
        </p>
      )}
      {file.live && remaining !== null && remaining < price && (
        <p class="notice warn">
          This is more than the account holds: {countOf(remaining, 'credit')}. You can start it all
          the same: it pauses when the credits are used up, and goes on by itself when there are
          more.
        </p>
      )}
      <ProblemNotice problem={starting.problem} />
      <div class="buttons">
        <Button kind="primary" isBusy={starting.isBusy} onClick={() => starting.run()}>
          {file.live ? `Start for ${countOf(price, 'credit')}` : 'Start'}
        </Button>
        <CancelButton item={file} of={exportFiles} live={live} />
      </div>
    </section>
  );
}
