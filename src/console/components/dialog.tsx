import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Action } from '../use-call.ts';
import { Button } from './button.tsx';
import { ProblemNotice } from './problem-notice.tsx';

interface DialogProps {
  title: string;
  children: ComponentChildren;
  /** Called when it is closed by Escape or its button. */
  onClose: () => void;
  /** Escape does not close it: what it shows would be lost. */
  isLocked?: boolean;
}

/** A dialog over the page; the browser keeps the focus inside and gives it back when the dialog ends. */
export function Dialog({ title, children, onClose, isLocked = false }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    // An open dialog that is only removed does not give the focus back to what opened it.
    return () => shown?.close();
  }, []);
  const leave = (event: Event) => {
    event.preventDefault();
    if (!isLocked) onClose();
  };
  return (
    <dialog
      ref={dialog}
      aria-label={title}
      // Prevented here, a second Escape cannot force it shut.
      onKeyDown={(event) => event.key === 'Escape' && leave(event)}
      onCancel={leave}
    >
      <h2 class="dialog-title">{title}</h2>
      {children}
    </dialog>
  );
}

interface ConfirmDialogProps {
  title: string;
  children: ComponentChildren;
  /** The button that does it, in a verb: `Cancel the batch`. */
  confirm: string;
  /** The button that does nothing; another word where `confirm` says Cancel. */
  leave?: string;
  kind?: 'primary' | 'danger';
  /** False while what it asks is not known. */
  isReady?: boolean;
  action: Action<void>;
  onClose: () => void;
}

/** Asks before something that cannot be taken back. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, children, confirm, leave = 'Cancel', kind = 'danger', action, onClose } = props;
  const { isReady = true } = props;
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="dialog-text">{children}</div>
      <ProblemNotice problem={action.problem} />
      <div class="dialog-buttons">
        <Button onClick={onClose}>{leave}</Button>
        <Button
          kind={kind}
          isBusy={action.isBusy}
          isDisabled={!isReady}
          onClick={() => action.run()}
        >
          {confirm}
        </Button>
      </div>
    </Dialog>
  );
}
