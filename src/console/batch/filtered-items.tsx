/** Lists or exports: found by name, sorted, with drafts apart, and what can be done with each. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { SelectField, TextField } from '../components/field.tsx';
import { Loading } from '../components/loading.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import type { Column } from '../components/table.tsx';
import { countOf, formatShare } from '../format.ts';
import { useSettled } from '../use-settled.ts';
import { isFinal, type Progress, type Resource, stateLabel, stateTone } from './batch.ts';
import { RemoveItem, RenameItem } from './item-dialogs.tsx';
import { useLiveList } from './use-live-list.ts';

interface FilteredItemsProps<Item extends Progress> {
  of: Resource;
  /** Shown instead of everything when there is none at all. */
  empty: ComponentChildren;
  /** Called when it is known whether there is none at all. */
  onEmpty: (isEmpty: boolean) => void;
  /** Shows items in a table with this caption, with their actions as its last column. */
  children: (items: readonly Item[], actions: Column<Item>, caption: string) => ComponentChildren;
}

/** Waits to be started, and was never looked at again. */
const isDraft = ({ state }: Progress) => state === 'ready';

/** Belongs to the list whose rows it reruns, and needs no more attention: each decision makes one. */
const isDoneRerun = ({ state, rerun_of }: Progress) =>
  rerun_of != null && (state === 'completed' || state === 'cancelled');

/** From so many on, search and order are offered. */
const SEARCH_FROM = 6;

const NEWEST_FIRST = '-created_at';
const sorts = [
  { value: NEWEST_FIRST, label: 'Newest first' },
  { value: 'created_at', label: 'Oldest first' },
  { value: 'name', label: 'Name' },
  { value: '-matched', label: 'Most matches' },
  { value: '-credits', label: 'Most credits' },
];

export function FilteredItems<Item extends Progress>(props: FilteredItemsProps<Item>) {
  const { of } = props;
  const [text, setText] = useState('');
  const [sort, setSort] = useState(NEWEST_FIRST);
  const [isLong, setIsLong] = useState(false);
  const search = useSettled(text.trim());
  const query = new URLSearchParams({ sort, ...(search === '' ? {} : { search }) });
  return (
    <div class="stack">
      {isLong && (
        <div class="filters">
          <TextField
            id="name-filter"
            type="search"
            label="Search by name"
            value={text}
            onInput={setText}
          />
          <SelectField id="sort" label="Sort by" value={sort} onChange={setSort} options={sorts} />
        </div>
      )}
      <FoundItems
        {...props}
        key={`${query}`}
        path={`${of.path}?${query}`}
        search={search}
        isNewestFirst={sort === NEWEST_FIRST}
        onLong={setIsLong}
      />
    </div>
  );
}

interface FoundItemsProps<Item extends Progress> extends FilteredItemsProps<Item> {
  path: string;
  search: string;
  isNewestFirst: boolean;
  /** Called when it is known whether there are so many that one looks for some. */
  onLong: (isLong: boolean) => void;
}

function FoundItems<Item extends Progress>(props: FoundItemsProps<Item>) {
  const { of, path, search, isNewestFirst, empty, onEmpty, onLong, children } = props;
  const { items, ...list } = useLiveList<Item>(path, isNewestFirst);
  const [asked, setAsked] = useState<{ item: Item; to: 'rename' | 'remove' } | null>(null);
  const isEmpty = search === '' && items?.length === 0;
  const isKnown = search === '' && items !== undefined;
  const isLong = list.hasMore || (items?.length ?? 0) >= SEARCH_FROM;
  useEffect(() => {
    if (!isKnown) return;
    onEmpty(isEmpty);
    onLong(isLong);
  }, [isKnown, isEmpty, isLong]);
  const drafts = items?.filter(isDraft) ?? [];
  const reruns = items?.filter(isDoneRerun) ?? [];
  const others = items?.filter((item) => !isDraft(item) && !isDoneRerun(item)) ?? [];
  const actions: Column<Item> = {
    header: 'Actions',
    cell: (item) => (
      <span class="buttons">
        {of.noun === 'list' && (
          <Button kind="quiet" onClick={() => setAsked({ item, to: 'rename' })}>
            Rename <span class="unseen">{item.name}</span>
          </Button>
        )}
        {(isDraft(item) || (isFinal(item.state) && item.files_deleted_at === null)) && (
          <Button kind="quiet" onClick={() => setAsked({ item, to: 'remove' })}>
            {isDraft(item) ? 'Discard' : 'Delete'} <span class="unseen">{item.name}</span>
          </Button>
        )}
      </span>
    ),
  };
  const close = () => setAsked(null);
  const done = () => {
    close();
    list.reload();
  };
  const title = `${of.noun.slice(0, 1).toUpperCase()}${of.noun.slice(1)}s`;
  return (
    <>
      <ProblemNotice problem={list.problem} onRetry={list.reload} />
      {items === undefined && list.isLoading && <Loading />}
      {isEmpty && empty}
      {others.length > 0 && children(others, actions, title)}
      {search !== '' && items?.length === 0 && (
        <p class="soft" role="status">
          No {of.noun} has “{search}” in its name.
        </p>
      )}
      {drafts.length > 0 && (
        <details class="more-options" open={others.length === 0}>
          <summary>{countOf(drafts.length, 'draft')}, not started yet</summary>
          {children(drafts, actions, 'Drafts')}
        </details>
      )}
      {reruns.length > 0 && (
        <details class="more-options" open={others.length === 0}>
          <summary>Retries and decisions, done: {reruns.length}</summary>
          {children(reruns, actions, 'Retries and decisions')}
        </details>
      )}
      {list.hasMore && (
        <div class="more">
          <Button isBusy={list.isLoading} onClick={list.loadMore}>
            Show more {of.noun}s
          </Button>
        </div>
      )}
      {asked?.to === 'remove' && (
        <RemoveItem item={asked.item} of={of} onDone={done} onClose={close} />
      )}
      {asked?.to === 'rename' && (
        <RenameItem item={asked.item} of={of} onDone={done} onClose={close} />
      )}
    </>
  );
}

/** The state of a list or an export, and how far it is. */
export function ItemStatus({ item }: { item: Progress }) {
  const { state, rows } = item;
  const isUnderWay = state === 'running' && rows.total !== null && rows.processed > 0;
  return (
    <span class="status">
      <Badge tone={stateTone(state)}>{stateLabel(state)}</Badge>
      {isUnderWay && (
        <span class="soft number"> {formatShare(rows.processed, rows.total ?? 0)}</span>
      )}
    </span>
  );
}
