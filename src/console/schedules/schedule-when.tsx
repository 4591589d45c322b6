import { useAsTyped } from '../use-as-typed.ts';
import { sayCron } from './cron-times.ts';
import { EnabledSwitch } from './enabled-switch.tsx';
import { NextRuns, type NextRunsAnswer, nextRunsPath } from './next-runs.tsx';
import { modes, type Schedule } from './schedule-words.ts';
import { zoneLabel } from './zones.ts';

interface ScheduleWhenProps {
  schedule: Schedule;
  onChange: (schedule: Schedule) => void;
}

/** When a schedule runs, and whether it does. */
export function ScheduleWhen({ schedule, onChange }: ScheduleWhenProps) {
  const { cron, time_zone: zone, enabled, mode } = schedule;
  const next = useAsTyped<NextRunsAnswer>(enabled ? nextRunsPath(cron, zone) : null);
  return (
    <section class="card" aria-labelledby="when-title">
      <div class="card-head">
        <h2 id="when-title">{sayCron(cron)}</h2>
        <EnabledSwitch schedule={schedule} onChange={onChange} />
      </div>
      <p class="soft">
        Time zone: {zoneLabel(zone)}. {modes.find(({ value }) => value === mode)?.about}
      </p>
      {enabled ? (
        <NextRuns next={next} zone={zone} />
      ) : (
        <p class="notice warn">Paused. Missed runs won’t be made up.</p>
      )}
    </section>
  );
}
