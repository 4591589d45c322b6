import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Action } from '../use-call.ts';
import { Button } from './button.tsx';
import { ProblemNotice } from './problem-notice.tsx';

interface DialogProps {
  title: string;
  children: ComponentChildren;
  /** Called when it is closed by Escape or its button. */
  onClose: () => void;
}

/** A dialog over the page; the browser keeps the focus inside and gives it back. */
export function Dialog({ title, children, onClose }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
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
  kind?: 'primary' | 'danger';
  action: Action<void>;
  onClose: () => void;
}

/** Asks before something that cannot be taken back. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, children, confirm, kind = 'danger', action, onClose } = props;
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="dialog-text">{children}</div>
      <ProblemNotice problem={action.problem} />
      <div class="dialog-buttons">
        <Button onClick={onClose}>Leave it</Button>
        <Button kind={kind} isBusy={action.isBusy} onClick={() => action.run()}>
          {confirm}
        </Button>
      </div>
    </Dialog>
  );
}
