import type { ComponentChildren } from 'preact';

/** A name and its value, for a list of facts. */
export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class="number">{children}</dd>
    </div>
  );
}
