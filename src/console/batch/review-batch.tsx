/** A list that waits to be started: how it was read, what its columns hold, its options and its price. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { Loading } from '../components/loading.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { operations } from '../priced-operations.ts';
import { useResource } from '../use-call.ts';
import { columnKinds } from '../words.ts';
import type { Batch } from './batch.ts';
import { FileFormat } from './file-format.tsx';
import { FirstRows } from './first-rows.tsx';
import { ListOptions } from './list-options.tsx';
import { CostCard, StartBar, useStart } from './list-price.tsx';
import {
  type ColumnKinds,
  choose,
  fromRequest,
  isUsable,
  swapNames,
  toColumns,
  toRequest,
} from './mapping.ts';
import { MappingList } from './mapping-list.tsx';
import { findOperation, type Operation, subjectOf } from './operations.ts';
import type { Preview } from './preview.ts';
import { SavedMappings } from './saved-mappings.tsx';
import { subjectDoubt } from './subject-doubt.ts';
import { SwappedNames } from './swapped-names.tsx';
import { type Changes, useListChanges } from './use-changes.ts';
import type { Live } from './use-live-batch.ts';
import { usePrice } from './use-price.ts';

interface ReviewBatchProps {
  batch: Batch;
  live: Live<Batch>;
  isFormatOpen: boolean;
  onFormatOpen: (isOpen: boolean) => void;
}

export function ReviewBatch({ batch, live, isFormatOpen, onFormatOpen }: ReviewBatchProps) {
  const preview = useResource<Preview>(`/v1/batches/${batch.id}/preview`);
  const changes = useListChanges(batch, live);
  const operation = findOperation(batch.operation) ?? (operations[0] as Operation);
  const chosen = useColumns(batch, changes, preview.reload);
  const { columns } = chosen;
  const pricing = usePrice(batch, live, {
    isCurrent: changes.isSaved && changes.problem === null,
    isUsable: chosen.isUsable,
  });
  const starting = useStart(batch, live, pricing.price);
  const kinds = new Set(columns.values());
  const doubt = preview.data ? subjectDoubt(batch.operation, columns, preview.data) : null;
  return (
    <>
      {/* What is being started cannot be changed any more. */}
      <div class="stack" inert={starting.isBusy}>
        <section class="card" aria-labelledby="columns-title">
          <h2 id="columns-title">Check your columns</h2>
          <FileFormat
            batch={batch}
            preview={preview.data}
            live={live}
            isOpen={isFormatOpen}
            onOpen={onFormatOpen}
          />
          <ProblemNotice problem={preview.problem} onRetry={preview.reload} />
          <SwappedNames batch={batch} onSwap={() => chosen.map(swapNames(columns))} />
          {!chosen.isUsable && (
            <NothingToMatchOn
              operation={operation}
              onMatchByName={
                kinds.has('person_name') ? () => changes.change({ match: 'likely' }) : null
              }
            />
          )}
          {doubt !== null && <p class="notice warn">{doubt}</p>}
          {preview.data === undefined && preview.problem === null && <Loading />}
          {preview.data && (
            <Columns
              batch={batch}
              operation={operation}
              preview={preview.data}
              chosen={chosen}
              changes={changes}
            />
          )}
        </section>
        <ListOptions
          batch={batch}
          changes={changes}
          hasNames={['person_name', 'company_name', 'name'].some((kind) => kinds.has(kind))}
        />
        <CostCard batch={batch} pricing={pricing} />
      </div>
      <StartBar
        batch={batch}
        pricing={pricing}
        live={live}
        starting={starting}
        isSaved={changes.isSaved}
        refusal={changes.problem}
      />
    </>
  );
}

interface ChosenColumns {
  columns: ColumnKinds;
  /** True when there is one to match on. */
  isUsable: boolean;
  map: (columns: ColumnKinds) => void;
  takeOver: (mapping: Record<string, number[]>) => void;
  /** Counts the mappings that were taken over: each puts its columns first. */
  round: number;
}

/**
 * The columns as they are chosen on the page. They are saved at once, or as soon as there is something to match on.
 * `onSaved` is called when the list has others.
 */
function useColumns(batch: Batch, changes: Changes, onSaved: () => void): ChosenColumns {
  const [columns, setColumns] = useState(() => toColumns(batch.mapping));
  const [round, setRound] = useState(0);
  const chosen = { ...batch, match: changes.pending.match ?? batch.match };
  const canMatch = isUsable(chosen, columns);
  const isUnsaved = useRef(false);
  const map = (next: ColumnKinds) => {
    setColumns(next);
    isUnsaved.current = !isUsable(chosen, next);
    if (!isUnsaved.current) changes.change({ mapping: toRequest(next) });
  };
  useEffect(() => {
    if (canMatch && isUnsaved.current) map(columns);
  }, [canMatch]);
  const saved = JSON.stringify(batch.mapping);
  const before = useRef(saved);
  useEffect(() => {
    if (saved === before.current) return;
    before.current = saved;
    onSaved();
    // Another tab may have chosen them; what is chosen here and not saved yet stays.
    if (changes.pending.mapping === undefined && !isUnsaved.current) {
      setColumns(toColumns(batch.mapping));
    }
  }, [saved]);
  const takeOver = (mapping: Record<string, number[]>) => {
    map(fromRequest(mapping));
    setRound(round + 1);
  };
  return { columns, isUsable: canMatch, map, takeOver, round };
}

interface ColumnsProps {
  batch: Batch;
  operation: Operation;
  preview: Preview;
  chosen: ChosenColumns;
  changes: Changes;
}

function Columns({ batch, operation, preview, chosen, changes }: ColumnsProps) {
  const { columns, map, takeOver } = chosen;
  const isChanged = changes.pending.mapping !== undefined;
  const isSaved = changes.isSaved && chosen.isUsable;
  return (
    <>
      <Remembered preview={preview} isChanged={isChanged} onUse={takeOver} />
      <MappingList
        key={chosen.round}
        batch={batch}
        operation={operation}
        preview={preview}
        columns={columns}
        onChoose={(column, kind) => map(choose(columns, column, kind))}
      />
      <SavedMappings batch={batch} columns={preview.columns} isSaved={isSaved} onUse={takeOver} />
      <FirstRows
        subject={subjectOf(batch.operation)}
        preview={preview}
        columns={columns}
        isByName={batch.match === 'likely'}
        isCurrent={isSaved && !isChanged && changes.problem === null}
        isUsable={chosen.isUsable}
      />
    </>
  );
}

interface RememberedProps {
  preview: Preview;
  /** True when the columns of the preview are no longer those of the list. */
  isChanged: boolean;
  onUse: (mapping: Record<string, number[]>) => void;
}

/** Offers the columns that were chosen for the last list with this header. */
function Remembered({ preview: { remembered, columns }, isChanged, onUse }: RememberedProps) {
  if (remembered === null || isChanged) return null;
  const said = Object.entries(remembered).map(([kind, numbers]) => {
    const names = numbers.map((number) => columns[number - 1]?.header || `Column ${number}`);
    return `${names.join(', ')} as ${columnKinds[kind] ?? kind}`;
  });
  return (
    <div class="notice remembered">
      <p>Last time you mapped a file with these columns differently: {said.join('; ')}.</p>
      <Button onClick={() => onUse(remembered)}>Use last time’s columns</Button>
    </div>
  );
}

interface NothingToMatchOnProps {
  operation: Operation;
  /** Null for a list without names of people. */
  onMatchByName: (() => void) | null;
}

function NothingToMatchOn({ operation, onMatchByName }: NothingToMatchOnProps) {
  const kinds = operation.identifiers.map((kind) => columnKinds[kind] ?? kind);
  const last = kinds.pop();
  const named = kinds.length === 0 ? last : `${kinds.join(', ')} or ${last}`;
  return (
    <div class="notice warn" role="alert">
      <div>
        <p>
          Choose at least one column to match on: {named}. If none has one, check which row is the
          header{onMatchByName === null ? '.' : ', or match people by their names.'}
        </p>
        {onMatchByName !== null && <Button onClick={onMatchByName}>Match by name</Button>}
      </div>
    </div>
  );
}
