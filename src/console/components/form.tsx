import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Problem } from '../problem.ts';

interface FormProps {
  class?: string;
  /** Why the last submission was refused. */
  problem: Problem | null;
  onSubmit: () => void;
  children: ComponentChildren;
}

/** A form that the API checks. A refusal moves the focus to the first field with an error, which may be out of sight. */
export function Form({ class: named = '', problem, onSubmit, children }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (problem === null) return;
    form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [problem]);
  return (
    <form
      ref={form}
      class={named}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}
