import { useEffect } from 'preact/hooks';
import { announce } from '../components/announcer.tsx';
import type { Problem } from '../problem.ts';

/** Reads anew what another tab, or somebody else, has moved on, so that an action was refused. */
export function useMovedOn(
  actions: readonly { problem: Problem | null }[],
  { reload }: { reload: () => void },
): void {
  const hasMoved = actions.some(({ problem }) => problem?.code === 'invalid_state');
  useEffect(() => {
    if (!hasMoved) return;
    announce('This has changed meanwhile. The page now shows the current state.');
    reload();
  }, [hasMoved, reload]);
}
