import { useEffect } from 'preact/hooks';
import { call } from '../api.ts';
import { readOut } from '../components/announcer.tsx';
import { isFinal, type Progress, type Resource, stateLabel } from './batch.ts';

/** Tells screen readers of each new state, and the page what is left of the credits at the end and when it pauses. */
export function useToldState({ id, name, state }: Progress, { path }: Resource): void {
  useEffect(() => {
    readOut(`${name}: ${stateLabel(state)}`);
    // The credits beside the page are those of the last answer.
    if (isFinal(state) || state === 'paused') void call('GET', `${path}/${id}`).catch(() => {});
  }, [path, id, name, state]);
}
