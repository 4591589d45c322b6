import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { Button } from '../components/button.tsx';
import { Checkboxes } from '../components/checkboxes.tsx';
import { Dialog } from '../components/dialog.tsx';
import { makeAndOpen } from '../components/lead-on.ts';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { countOf, formatNumber } from '../format.ts';
import { useAction } from '../use-call.ts';
import { sayOutcome } from '../words.ts';
import { type Batch, type Outcome, outcomes } from './batch.ts';

/** Outcomes that another run may change without a change of the row. */
const mayChange: readonly Outcome[] = ['no_match', 'ambiguous', 'error', 'not_processed'];

interface RerunButtonProps {
  batch: Batch;
  /** True as long as the list may have a rerun: the rows that one has matched are left out, and not known here. */
  hasReruns: boolean;
}

/** Makes a new list of rows that did not match; it waits for its price like any list. */
export function RerunButton({ batch, hasReruns }: RerunButtonProps) {
  const [isAsked, setIsAsked] = useState(false);
  const choices = outcomes.filter((name) => name !== 'matched' && batch.rows[name] > 0);
  const [chosen, setChosen] = useState<readonly Outcome[]>(() =>
    choices.filter((name) => mayChange.includes(name)),
  );
  const running = useAction(() =>
    makeAndOpen('list of these rows', 'created', async (onRepeated) => {
      const options = { body: { outcomes: chosen, hold: true }, onRepeated };
      const path = `/v1/batches/${batch.id}/rerun`;
      const { id, created_at: at } = await call<Batch>('POST', path, options);
      return { path: `/batches/${id}`, at };
    }),
  );
  if (choices.length === 0) return null;
  // A later rerun of the same list may have rows of a rerun.
  const isCounted = !hasReruns && batch.rerun_of === null;
  const rows = chosen.reduce((sum, name) => sum + batch.rows[name], 0);
  return (
    <>
      <Button onClick={() => setIsAsked(true)}>Retry unmatched rows</Button>
      {isAsked && (
        <Dialog title="Retry unmatched rows" onClose={() => setIsAsked(false)}>
          <p class="dialog-text">
            We’ll create a new list from these rows and show you its price. You’re charged only for
            new matches, after you start it.
            {!isCounted && ' Rows that a retry or a decision has matched are left out.'}
          </p>
          <fieldset>
            <legend class="unseen">Rows to retry</legend>
            <Checkboxes
              choices={choices.map((value) => ({
                value,
                label: (
                  <>
                    {sayOutcome(value)}
                    {isCounted && (
                      <span class="soft number"> {formatNumber(batch.rows[value])}</span>
                    )}
                  </>
                ),
              }))}
              chosen={chosen}
              onChange={setChosen}
            />
          </fieldset>
          <ProblemNotice problem={running.problem} />
          <div class="dialog-buttons">
            <Button onClick={() => setIsAsked(false)}>Cancel</Button>
            <Button
              kind="primary"
              isBusy={running.isBusy}
              isDisabled={chosen.length === 0}
              onClick={() => running.run()}
            >
              {isCounted ? `Review ${countOf(rows, 'row')}` : 'Review the rows'}
            </Button>
          </div>
        </Dialog>
      )}
    </>
  );
}
