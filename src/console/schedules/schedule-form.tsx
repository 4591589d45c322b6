/** The settings of a schedule: times, people to include, and contents of its files. */
import { useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { restOf } from '../components/field.tsx';
import { Form } from '../components/form.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import {
  type FileOptions,
  FileOptionsForm,
  optionFields,
  toRequest,
  usualOptions,
} from '../exports/file-options.tsx';
import { Problem } from '../problem.ts';
import { useSearchName } from '../search/search-name.ts';
import { type Action, useAction } from '../use-call.ts';
import { readCron } from './cron-times.ts';
import { MonthlyCost } from './monthly-cost.tsx';
import { ScheduleTimes } from './schedule-times.tsx';
import { modes, type Schedule, type ScheduleMode } from './schedule-words.ts';
import { ownZone } from './zones.ts';

interface ScheduleFormProps {
  /** The search whose people it delivers. */
  filter: string;
  /** The schedule that is changed; null for a new one. */
  schedule: Schedule | null;
  /** The button that does it. */
  submit: string;
  /** Makes or changes it; what it is given is what the API takes, without the filter. */
  onSubmit: (request: object) => Promise<void>;
  onLeave?: () => void;
}

export function ScheduleForm(props: ScheduleFormProps) {
  const { filter, schedule, submit, onSubmit, onLeave } = props;
  const search = useSearchName(filter);
  const [times, setTimes] = useState(() => timesOf(schedule));
  const [mode, setMode] = useState<ScheduleMode>(schedule?.mode ?? 'new');
  const [chosen, setOptions] = useState<FileOptions>(() => optionsOf(schedule));
  // Named by what it holds until another name is typed.
  const options = chosen.name === '' ? { ...chosen, name: search } : chosen;
  const saving: Action<void> = useAction(async () => {
    if (mode === 'all' && options.maxCredits === null) throw capNeeded();
    await onSubmit({ ...toRequest(options), cron: times.cron, time_zone: times.zone, mode });
  });
  return (
    <Form class="card" problem={saving.problem} onSubmit={() => saving.run()}>
      <ScheduleTimes {...times} onChange={setTimes} problem={saving.problem} />
      <ModeChoice mode={mode} onChange={setMode} />
      <FileOptionsForm
        options={options}
        onChange={setOptions}
        problem={saving.problem}
        limitHint="Of each run."
      />
      <MonthlyCost filter={filter} {...times} mode={mode} options={options} />
      <ProblemNotice problem={restOf(saving.problem, [...optionFields, 'cron', 'time_zone'])} />
      <div class="buttons">
        <Button kind="primary" type="submit" isBusy={saving.isBusy}>
          {submit}
        </Button>
        {onLeave && <Button onClick={onLeave}>Cancel</Button>}
      </div>
    </Form>
  );
}

/** A cost that every run repeats must be limited: nothing else ends it. */
function capNeeded(): Problem {
  const message = 'Enter the maximum credits for a run: every run charges for everyone';
  return new Problem(400, {
    code: 'invalid_parameter',
    detail: `${message}.`,
    errors: [{ field: 'max_credits', message }],
  });
}

function timesOf(schedule: Schedule | null) {
  const { cron = '0 2 * * *', time_zone: zone = ownZone } = schedule ?? {};
  return { cron, zone, isExpression: readCron(cron).kind === 'cron' };
}

function optionsOf(schedule: Schedule | null): FileOptions {
  if (schedule === null) return usualOptions;
  const { name, fields, format, max_results: maxResults, max_credits: maxCredits } = schedule;
  return { name, fields, format, maxResults, maxCredits };
}

interface ModeChoiceProps {
  mode: ScheduleMode;
  onChange: (mode: ScheduleMode) => void;
}

function ModeChoice({ mode, onChange }: ModeChoiceProps) {
  return (
    <fieldset class="field">
      <legend>Who to include</legend>
      <div class="mode-choice">
        {modes.map(({ value, label, about }) => (
          <label key={value}>
            <input
              type="radio"
              name="mode"
              checked={mode === value}
              aria-describedby={`mode-${value}`}
              onChange={() => onChange(value)}
            />
            <span>{label}</span>
            <span class="hint" id={`mode-${value}`}>
              {about}
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
