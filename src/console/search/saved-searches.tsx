/** Searches that the account keeps under a name: opened, saved and deleted here. */
import { useState } from 'preact/hooks';
import type { Calls } from '../../client/api-types.ts';
import { call } from '../api.ts';
import { announce } from '../components/announcer.tsx';
import { Button } from '../components/button.tsx';
import { errorOf, restOf, TextField } from '../components/field.tsx';
import { Form } from '../components/form.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { linkTo } from '../router.ts';
import { useAction, useResource } from '../use-call.ts';
import { useSearchName } from './search-name.ts';

type SavedSearch = Calls['POST /v1/searches']['response'];

interface SavedSearchesProps {
  /** The search as it is now. */
  filter: string;
  onOpen: (filter: string) => void;
}

export function SavedSearches({ filter, onOpen }: SavedSearchesProps) {
  const saved = useResource<{ data: SavedSearch[] }>('/v1/searches?limit=100');
  const searches = saved.data?.data ?? [];
  const [typed, setTyped] = useState('');
  const found = useSearchName(filter);
  const name = typed.trim() === '' ? found : typed.trim();
  const saving = useAction(async () => {
    await call('POST', '/v1/searches', { body: { name, filter } });
    announce(`The search is saved as “${name}”.`);
    setTyped('');
    saved.reload();
  });
  const deleting = useAction(async ({ id }: SavedSearch) => {
    await call('DELETE', `/v1/searches/${id}`);
    saved.reload();
  });
  if (searches.length === 0 && filter === '') return null;
  const { problem } = saving;
  return (
    <details class="more-options saved-searches">
      <summary>
        {searches.length > 0 ? `Saved searches (${searches.length})` : 'Save this search'}
      </summary>
      <div class="stack tight">
        <ProblemNotice problem={saved.problem ?? deleting.problem} onRetry={saved.reload} />
        <ul class="saved-mappings">
          {searches.map((search) => (
            <li key={search.id}>
              <a
                href={linkTo('/search', { filter: search.filter })}
                // The address may still have this filter, which was just cleared.
                onClick={() => onOpen(search.filter)}
              >
                {search.name}
              </a>
              <Button kind="quiet" isBusy={deleting.isBusy} onClick={() => deleting.run(search)}>
                Delete <span class="unseen">{search.name}</span>
              </Button>
            </li>
          ))}
        </ul>
        {filter !== '' && (
          <Form class="filters of-form" problem={problem} onSubmit={() => saving.run()}>
            <TextField
              id="search-name"
              label="Name of this search"
              placeholder={found}
              value={typed}
              onInput={setTyped}
              error={errorOf(problem, 'name')}
            />
            <Button type="submit" isBusy={saving.isBusy}>
              Save the search
            </Button>
            <ProblemNotice problem={restOf(problem, ['name'])} />
          </Form>
        )}
      </div>
    </details>
  );
}
