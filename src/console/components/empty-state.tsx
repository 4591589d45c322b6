import type { ComponentChildren } from 'preact';

interface EmptyStateProps {
  title: string;
  children?: ComponentChildren;
  action?: ComponentChildren;
}

/** The place of something that does not exist yet: what it is, and how to create it. */
export function EmptyState({ title, children, action }: EmptyStateProps) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children !== undefined && <p>{children}</p>}
      {action}
    </div>
  );
}
