import type { ComponentChildren } from 'preact';

export type Tone = 'neutral' | 'active' | 'good' | 'warn' | 'bad';

/** A state in a word or two; the colour only repeats what the word says. */
export function Badge({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}
