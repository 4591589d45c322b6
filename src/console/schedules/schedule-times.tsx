import { errorOf, Field, SelectField, TextField } from '../components/field.tsx';
import type { Problem } from '../problem.ts';
import { useAsTyped } from '../use-as-typed.ts';
import {
  readCron,
  type Times,
  type TimesKind,
  weekdays,
  withKind,
  writeCron,
} from './cron-times.ts';
import { NextRuns, type NextRunsAnswer, nextRunsPath } from './next-runs.tsx';
import { zoneLabel, zoneNames } from './zones.ts';

const kinds: readonly { value: TimesKind; label: string }[] = [
  { value: 'daily', label: 'Every day' },
  { value: 'weekdays', label: 'Monday to Friday' },
  { value: 'weekly', label: 'Every week' },
  { value: 'monthly', label: 'Every month' },
  { value: 'cron', label: 'Cron expression' },
];

const days = [
  ...Array.from({ length: 31 }, (_, place) => {
    const day = String(place + 1);
    return { value: day, label: day };
  }),
  { value: 'L', label: 'The last one' },
];

interface ScheduleTimesProps {
  cron: string;
  zone: string;
  /** True when the user wants the expression itself, even if the usual times could express it. */
  isExpression: boolean;
  onChange: (times: { cron: string; zone: string; isExpression: boolean }) => void;
  problem: Problem | null;
}

/** When a schedule runs: the usual times or a cron expression, on the clocks of a zone, and the next five. */
export function ScheduleTimes(props: ScheduleTimesProps) {
  const { cron, zone, isExpression, onChange, problem } = props;
  const next = useAsTyped<NextRunsAnswer>(nextRunsPath(cron, zone));
  const times: Times = isExpression ? { kind: 'cron', cron } : readCron(cron);
  const wrong = next.problem ?? problem;
  const setTimes = (changed: Times) =>
    onChange({ cron: writeCron(changed), zone, isExpression: changed.kind === 'cron' });
  return (
    <div class="times">
      <div class="stack tight">
        <div class="fields">
          <SelectField
            id="times"
            label="Runs"
            value={times.kind}
            onChange={(kind) => setTimes(withKind(times, kind as TimesKind))}
            options={kinds}
            error={times.kind === 'cron' ? undefined : errorOf(wrong, 'cron')}
          />
          {times.kind === 'weekly' && (
            <SelectField
              id="weekday"
              label="On"
              value={String(times.weekday)}
              onChange={(weekday) => setTimes({ ...times, weekday: Number(weekday) })}
              options={weekdays.map((label, value) => ({ value: String(value), label }))}
            />
          )}
          {times.kind === 'monthly' && (
            <SelectField
              id="day"
              label="On day"
              value={times.day}
              onChange={(day) => setTimes({ ...times, day })}
              options={days}
            />
          )}
          {times.kind === 'cron' ? (
            <TextField
              id="cron"
              label="Cron expression"
              value={cron}
              onInput={(typed) => setTimes({ kind: 'cron', cron: typed })}
              hint="Minute, hour, day of month, month, day of week."
              error={errorOf(wrong, 'cron')}
            />
          ) : (
            <TimeField time={times.time} onChange={(time) => setTimes({ ...times, time })} />
          )}
        </div>
        <SelectField
          id="time_zone"
          label="Time zone"
          value={zone}
          onChange={(changed) => onChange({ cron, zone: changed, isExpression })}
          options={zoneNames(zone).map((value) => ({ value, label: zoneLabel(value) }))}
          error={errorOf(wrong, 'time_zone')}
        />
      </div>
      <NextRuns next={next} zone={zone} />
    </div>
  );
}

function TimeField({ time, onChange }: { time: string; onChange: (time: string) => void }) {
  return (
    <Field id="time" label="At">
      {(input) => (
        <input
          {...input}
          type="time"
          required
          value={time}
          onInput={(event) => {
            // Empty while half of it is typed.
            if (event.currentTarget.value !== '') onChange(event.currentTarget.value.slice(0, 5));
          }}
        />
      )}
    </Field>
  );
}
