/** Lists or exports with drafts apart, a search by name, and what can be done with each. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { announce } from '../components/announcer.tsx';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/dialog.tsx';
import { TextField } from '../components/field.tsx';
import type { Column } from '../components/table.tsx';
import { countOf, formatShare } from '../format.ts';
import { useAction } from '../use-call.ts';
import { isFinal, type Progress, type Resource, stateLabel, stateTone } from './batch.ts';

interface FilteredItemsProps<Item extends Progress> {
  items: readonly Item[];
  of: Resource;
  /** Called when one was deleted or discarded. */
  changed: () => void;
  /** Shows items in a table, with their actions as its last column. */
  children: (items: readonly Item[], actions: Column<Item>) => ComponentChildren;
}

/** Waits to be started, and was never looked at again. */
const isDraft = ({ state }: Progress) => state === 'ready';

/** From so many on, a search by name is offered. */
const SEARCH_FROM = 6;

export function FilteredItems<Item extends Progress>(props: FilteredItemsProps<Item>) {
  const { items, of, changed, children } = props;
  const [text, setText] = useState('');
  const [asked, setAsked] = useState<Item | null>(null);
  const removing = useAction(async () => {
    if (asked === null) return;
    const path = `${of.path}/${asked.id}`;
    await (isFinal(asked.state) ? call('DELETE', path) : call('POST', `${path}/cancel`));
    announce(isFinal(asked.state) ? 'The files were deleted.' : `The ${of.noun} was discarded.`);
    setAsked(null);
    changed();
  });
  const words = text.trim().toLowerCase();
  const found = items.filter(({ name }) => name.toLowerCase().includes(words));
  const drafts = found.filter(isDraft);
  const others = found.filter((item) => !isDraft(item));
  const actions: Column<Item> = {
    header: 'Actions',
    cell: (item) =>
      (isDraft(item) || (isFinal(item.state) && item.files_deleted_at === null)) && (
        <Button kind="quiet" onClick={() => setAsked(item)}>
          {isDraft(item) ? 'Discard' : 'Delete'} <span class="unseen">{item.name}</span>
        </Button>
      ),
  };
  const isFinished = asked !== null && isFinal(asked.state);
  return (
    <div class="stack">
      {items.length >= SEARCH_FROM && (
        <div class="filters">
          <TextField id="name-filter" label="Search by name" value={text} onInput={setText} />
        </div>
      )}
      {others.length > 0 && children(others, actions)}
      {found.length === 0 && <p class="soft">No {of.noun} has this in its name.</p>}
      {drafts.length > 0 && (
        <details class="more-options" open={others.length === 0}>
          <summary>{countOf(drafts.length, 'draft')}, not started yet</summary>
          {children(drafts, actions)}
        </details>
      )}
      {asked !== null && (
        <ConfirmDialog
          title={isFinished ? `Delete the files of this ${of.noun}?` : `Discard this ${of.noun}?`}
          confirm={isFinished ? 'Delete the files' : 'Discard it'}
          action={removing}
          onClose={() => {
            setAsked(null);
            removing.clear();
          }}
        >
          {isFinished
            ? `“${asked.name}” can no longer be downloaded. Its counts and charges stay. This can’t be undone.`
            : `“${asked.name}” is cancelled. Nothing has been charged.`}
        </ConfirmDialog>
      )}
    </div>
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
