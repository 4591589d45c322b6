import type { ComponentChildren } from 'preact';
import type { Problem } from '../problem.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';

interface ProblemNoticeProps {
  problem: Problem | null;
  /** Tries again what has failed. */
  onRetry?: (() => void) | undefined;
  children?: ComponentChildren;
}

/** A problem and the way out, read out at once. Empty without a problem. */
export function ProblemNotice({ problem, onRetry, children }: ProblemNoticeProps) {
  return (
    <div role="alert" class="alert">
      {problem !== null && (
        <div class="notice bad">
          <Icon name="warning" />
          <div>
            <p>{problem.message}</p>
            {children}
            {onRetry && (
              <Button kind="secondary" onClick={onRetry}>
                Try again
              </Button>
            )}
          </div>
        </div>
      )}
    </div>
  );
}
