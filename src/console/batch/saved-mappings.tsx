/** Mappings that the account keeps under a name: applied, saved and deleted here. */
import { useState } from 'preact/hooks';
import type { Calls } from '../../client/api-types.ts';
import { call } from '../api.ts';
import { announce } from '../components/announcer.tsx';
import { Button } from '../components/button.tsx';
import { errorOf, restOf, TextField } from '../components/field.tsx';
import { Form } from '../components/form.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { type Action, useAction, useResource } from '../use-call.ts';
import type { Batch } from './batch.ts';
import type { SampledColumn } from './preview.ts';

type SavedMapping = Calls['POST /v1/mappings']['response'];

interface SavedMappingsProps {
  batch: Batch;
  columns: readonly SampledColumn[];
  /** True when the service has the mapping as it is shown. */
  isSaved: boolean;
  onUse: (mapping: Record<string, number[]>) => void;
}

export function SavedMappings({ batch, columns, isSaved, onUse }: SavedMappingsProps) {
  const { operation, id } = batch;
  const saved = useResource<{ data: SavedMapping[] }>(
    `/v1/mappings?operation=${encodeURIComponent(operation)}&limit=100`,
  );
  const [name, setName] = useState('');
  const saving = useAction(async () => {
    await call('POST', '/v1/mappings', { body: { name, batch_id: id } });
    announce(`The columns are saved as “${name.trim()}”.`);
    setName('');
    saved.reload();
  });
  const deleting = useAction(async (mapping: SavedMapping) => {
    await call('DELETE', `/v1/mappings/${mapping.id}`);
    saved.reload();
  });
  const mappings = saved.data?.data ?? [];
  return (
    <details class="more-options">
      <summary>Saved mappings{mappings.length > 0 ? ` (${mappings.length})` : ''}</summary>
      <div class="stack tight">
        <ul class="saved-mappings">
          {mappings.map((mapping) => (
            <SavedMappingLine
              key={mapping.id}
              mapping={mapping}
              columns={columns}
              onUse={onUse}
              deleting={deleting}
            />
          ))}
        </ul>
        <ProblemNotice problem={saved.problem ?? deleting.problem} />
        <Form
          class="save-mapping"
          problem={saving.problem}
          onSubmit={() => {
            if (name.trim() !== '' && isSaved) saving.run();
          }}
        >
          <TextField
            id="mapping_name"
            label="Save these columns as"
            value={name}
            onInput={setName}
            hint="Such as “CRM contacts”. A mapping with the same name is replaced."
            error={errorOf(saving.problem, 'name')}
          />
          <Button type="submit" isBusy={saving.isBusy} isDisabled={name.trim() === '' || !isSaved}>
            Save mapping
          </Button>
        </Form>
        <ProblemNotice problem={restOf(saving.problem, ['name'])} />
      </div>
    </details>
  );
}

interface SavedMappingLineProps extends Pick<SavedMappingsProps, 'columns' | 'onUse'> {
  mapping: SavedMapping;
  deleting: Action<SavedMapping>;
}

function SavedMappingLine({ mapping, columns, onUse, deleting }: SavedMappingLineProps) {
  const numbers = numbersOf(mapping, columns);
  return (
    <li>
      <span>
        <strong>{mapping.name}</strong>{' '}
        <span class="soft">{Object.values(mapping.columns).flat().join(', ')}</span>
      </span>
      <span class="buttons">
        <Button isDisabled={numbers === null} onClick={() => numbers && onUse(numbers)}>
          Apply <span class="unseen">{mapping.name}</span>
        </Button>
        <Button kind="quiet" isBusy={deleting.isBusy} onClick={() => deleting.run(mapping)}>
          Delete <span class="unseen">{mapping.name}</span>
        </Button>
      </span>
    </li>
  );
}

/** The columns of this list that the mapping names; null when it has none of them. */
function numbersOf(
  { columns: named }: SavedMapping,
  columns: readonly SampledColumn[],
): Record<string, number[]> | null {
  const found = Object.entries(named).flatMap(([kind, names]) => {
    const numbers = names.flatMap((name) => {
      const column = columns.find(({ header }) => header === name);
      return column === undefined ? [] : [column.column];
    });
    return numbers.length === 0 ? [] : [[kind, numbers] as const];
  });
  return found.length === 0 ? null : Object.fromEntries(found);
}
