import { useEffect, useRef, useState } from 'preact/hooks';
import { call } from '../api.ts';
import { readOut } from '../components/announcer.tsx';
import type { Problem } from '../problem.ts';
import { useAction } from '../use-call.ts';
import type { Batch, Mapping } from './batch.ts';
import { findOperation } from './operations.ts';
import type { Live } from './use-live-batch.ts';

/** What each column of a held list holds, as somebody chooses it. */
export interface Choice {
  /** Kinds by column, from 1; '' for a column that is not used. */
  columns: ReadonlyMap<number, string>;
  choose(column: number, kind: string): void;
  /** True when the service reads the list as it is chosen here. */
  isSaved: boolean;
  /** False while no column is chosen by which anything could be found. */
  isUsable: boolean;
  problem: Problem | null;
}

/** Saves each choice at once, one after the other. `onSaved` is called when the list is read anew. */
export function useMapping(batch: Batch, live: Live<Batch>, onSaved: () => void): Choice {
  const [columns, setColumns] = useState(() => toColumns(batch.mapping));
  const sent = useRef(columns);
  const saving = useAction(async (chosen: ReadonlyMap<number, string>) => {
    const body = { mapping: toRequest(chosen) };
    live.show(await call('PATCH', `/v1/batches/${batch.id}`, { body }));
    onSaved();
    readOut('The columns were changed.');
  });
  const { isBusy, problem, run } = saving;
  const identifiers = findOperation(batch.operation)?.identifiers ?? [];
  const isUsable = [...columns.values()].some((kind) => identifiers.includes(kind));
  // What is chosen while a choice is being saved is saved after it.
  useEffect(() => {
    if (!isUsable || isBusy || sent.current === columns) return;
    if (run(columns)) sent.current = columns;
  }, [columns, isUsable, isBusy, run]);
  return {
    columns,
    choose: (column, kind) => setColumns((before) => new Map(before).set(column, kind)),
    isSaved: sent.current === columns && !isBusy && problem === null,
    isUsable,
    problem,
  };
}

/** Kinds by column: a column holds one kind at most here. */
function toColumns(mapping: Mapping): ReadonlyMap<number, string> {
  const columns = new Map<number, string>();
  for (const [kind, mapped] of Object.entries(mapping)) {
    for (const { column } of mapped) columns.set(column, kind);
  }
  return columns;
}

/** The mapping as the API takes it. */
function toRequest(columns: ReadonlyMap<number, string>): Record<string, number[]> {
  const request: Record<string, number[]> = {};
  for (const [column, kind] of [...columns].sort(([one], [other]) => one - other)) {
    if (kind !== '') request[kind] = [...(request[kind] ?? []), column];
  }
  return request;
}
