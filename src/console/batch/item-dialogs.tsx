/** Actions on a list or an export in its table: rename it, delete its files, discard a draft. */
import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { announce } from '../components/announcer.tsx';
import { Button } from '../components/button.tsx';
import { ConfirmDialog, Dialog } from '../components/dialog.tsx';
import { errorOf, restOf, TextField } from '../components/field.tsx';
import { Form } from '../components/form.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { useAction } from '../use-call.ts';
import { isFinal, type Progress, type Resource } from './batch.ts';
import { cancelItem } from './cancel-button.tsx';

interface ItemDialogProps {
  item: Progress;
  of: Resource;
  onDone: () => void;
  onClose: () => void;
}

/** Asks before the files of a finished item are deleted, or a draft is discarded. */
export function RemoveItem({ item, of, onDone, onClose }: ItemDialogProps) {
  const isFinished = isFinal(item.state);
  const removing = useAction(async () => {
    const path = `${of.path}/${item.id}`;
    await (isFinished ? call('DELETE', path) : cancelItem(item, of));
    onDone();
    announce(isFinished ? 'The files were deleted.' : `The ${of.noun} was discarded.`);
  });
  return (
    <ConfirmDialog
      title={isFinished ? `Delete the files of this ${of.noun}?` : `Discard this ${of.noun}?`}
      confirm={isFinished ? 'Delete the files' : 'Discard it'}
      action={removing}
      onClose={onClose}
    >
      {isFinished
        ? `“${item.name}” can no longer be downloaded. Its counts and charges stay. This can’t be undone.`
        : `“${item.name}” is cancelled. Nothing has been charged.`}
    </ConfirmDialog>
  );
}

/** Asks for another name. */
export function RenameItem({ item, of, onDone, onClose }: ItemDialogProps) {
  const [name, setName] = useState(item.name);
  const renaming = useAction(async () => {
    await call('PATCH', `${of.path}/${item.id}`, { body: { name } });
    onDone();
    announce(`The ${of.noun} was renamed.`);
  });
  const { problem } = renaming;
  return (
    <Dialog title={`Rename this ${of.noun}`} onClose={onClose}>
      <Form problem={problem} onSubmit={() => renaming.run()}>
        <TextField
          id="new-name"
          label="Name"
          value={name}
          onInput={setName}
          error={errorOf(problem, 'name')}
          hint="Downloads are named after it."
        />
        <ProblemNotice problem={restOf(problem, ['name'])} />
        <div class="dialog-buttons">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" isBusy={renaming.isBusy}>
            Save
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
