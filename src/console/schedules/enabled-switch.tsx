import { call } from '../api.ts';
import { announceProblem, readOut } from '../components/announcer.tsx';
import { useAction } from '../use-call.ts';
import type { Schedule } from './schedule-words.ts';

interface EnabledSwitchProps {
  schedule: Schedule;
  onChange: (schedule: Schedule) => void;
}

/** Turns a schedule on and off. */
export function EnabledSwitch({ schedule, onChange }: EnabledSwitchProps) {
  const { id, name, enabled } = schedule;
  const change = async () => {
    onChange(await call('PATCH', `/v1/schedules/${id}`, { body: { enabled: !enabled } }));
    readOut(`${name} is ${enabled ? 'off' : 'on'}`);
  };
  const switching = useAction(() => announceProblem(change()));
  return (
    <button
      type="button"
      role="switch"
      class="switch plain-switch"
      aria-checked={enabled}
      aria-busy={switching.isBusy}
      aria-label={`${name}: runs automatically`}
      onClick={() => switching.run()}
    >
      <span class="knob" aria-hidden="true" />
    </button>
  );
}
