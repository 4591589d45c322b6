import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { formatNumber } from '../format.ts';
import { goTo } from '../router.ts';
import { useAction } from '../use-call.ts';
import { sayOutcome } from '../words.ts';
import { type Batch, outcomes } from './batch.ts';

/** Runs rows again that did not match: what matched is not paid twice. */
export function RerunButton({ batch }: { batch: Batch }) {
  const [isAsked, setIsAsked] = useState(false);
  const choices = outcomes.filter((name) => name !== 'matched' && batch.rows[name] > 0);
  const [chosen, setChosen] = useState<readonly string[]>(choices);
  const running = useAction(async () => {
    const body = { outcomes: chosen };
    const again = await call<Batch>('POST', `/v1/batches/${batch.id}/rerun`, { body });
    goTo(`/batches/${again.id}`);
  });
  if (choices.length === 0) return null;
  const toggle = (name: string) =>
    setChosen(chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name]);
  return (
    <>
      <Button onClick={() => setIsAsked(true)}>Run rows again</Button>
      {isAsked && (
        <Dialog title="Run rows again" onClose={() => setIsAsked(false)}>
          <p class="dialog-text">
            These rows become a new batch, which starts at once: after a cancel, or when there are
            more records than there were. A row that matches now costs what it always does.
          </p>
          <fieldset class="checks">
            <legend class="unseen">Rows to run again</legend>
            {choices.map((name) => (
              <label key={name}>
                <input
                  type="checkbox"
                  checked={chosen.includes(name)}
                  onChange={() => toggle(name)}
                />
                {sayOutcome(name)} <span class="soft number">{formatNumber(batch.rows[name])}</span>
              </label>
            ))}
          </fieldset>
          <ProblemNotice problem={running.problem} />
          <div class="dialog-buttons">
            <Button onClick={() => setIsAsked(false)}>Leave it</Button>
            <Button
              kind="primary"
              isBusy={running.isBusy}
              isDisabled={chosen.length === 0}
              onClick={() => running.run()}
            >
              Run them
            </Button>
          </div>
        </Dialog>
      )}
    </>
  );
}
