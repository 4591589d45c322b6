import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { Button } from '../components/button.tsx';
import { Checkboxes } from '../components/checkboxes.tsx';
import { Dialog } from '../components/dialog.tsx';
import { errorOf, FieldNotes, restOf, TextField } from '../components/field.tsx';
import { Form } from '../components/form.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { toNumber } from '../field-words.ts';
import { session } from '../session.ts';
import { useStore } from '../store.ts';
import { useAction } from '../use-call.ts';
import { type MadeKey, scopes } from './key.ts';

const limits = [
  { name: 'requests_per_minute', label: 'Requests per minute' },
  { name: 'requests_per_day', label: 'Requests per day' },
  { name: 'rows_per_minute', label: 'List rows per minute' },
  { name: 'credits_per_day', label: 'Credits per day' },
] as const;

interface MakeKeyDialogProps {
  onMade: (made: MadeKey) => void;
  onClose: () => void;
}

/** Asks for what a new key may do and makes it. */
export function MakeKeyDialog({ onMade, onClose }: MakeKeyDialogProps) {
  const mode = useStore(session)?.key.mode ?? 'test';
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState(['enrich', 'search', 'batches', 'exports']);
  const [numbers, setNumbers] = useState<Record<string, string>>({});
  const making = useAction(async () => {
    const set = Object.entries(numbers).filter(([, text]) => text.trim() !== '');
    const body = {
      mode,
      ...(name.trim() === '' ? {} : { name }),
      scopes: chosen,
      // What is no number is sent as it is: the answer says what is wrong with it.
      ...Object.fromEntries(set.map(([limit, text]) => [limit, toNumber(text)])),
    };
    onMade(await call<MadeKey>('POST', '/v1/keys', { body }));
  });
  const { problem } = making;
  const isPowerless = errorOf(problem, 'scopes') !== undefined;
  const fields = ['name', 'scopes', ...limits.map((limit) => limit.name)];
  return (
    <Dialog title={`New ${mode} key`} onClose={onClose}>
      <Form problem={problem} onSubmit={() => making.run()}>
        <TextField
          id="name"
          label="Name"
          value={name}
          onInput={setName}
          placeholder="such as CRM import"
          error={errorOf(problem, 'name')}
        />
        <fieldset>
          <legend>Permissions</legend>
          <Checkboxes
            choices={scopes.map(({ name: value, label: named }) => ({ value, label: named }))}
            chosen={chosen}
            onChange={setChosen}
            errorId={isPowerless ? 'scopes-error' : undefined}
          />
          <FieldNotes
            id="scopes"
            hint={null}
            error={isPowerless ? 'Choose at least one.' : undefined}
          />
        </fieldset>
        <div class="fields">
          {limits.map((limit) => (
            <TextField
              key={limit.name}
              id={limit.name}
              label={limit.label}
              type="number"
              value={numbers[limit.name] ?? ''}
              onInput={(text) => setNumbers({ ...numbers, [limit.name]: text })}
              placeholder="No limit of its own"
              error={errorOf(problem, limit.name)}
            />
          ))}
        </div>
        <p class="hint">A daily credit limit caps your cost if this key leaks.</p>
        <ProblemNotice problem={restOf(problem, fields)} />
        <div class="dialog-buttons">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" isBusy={making.isBusy}>
            Create key
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
