import type { ComponentChildren } from 'preact';
import { session } from '../session.ts';

/** Says that credits are short, who can add some, and how. */
export function NoCredits({ children }: { children: ComponentChildren }) {
  const { id, email } = session.get()?.account ?? {};
  return (
    <div class="notice warn">
      <div>
        <p>{children}</p>
        <p>
          Ask the administrator of this service to add credits with{' '}
          <code>enrich credits grant --account {email ?? id} --amount 1000 --reference TEXT</code>
        </p>
      </div>
    </div>
  );
}
