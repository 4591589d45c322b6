/** Hooks for reading the API and for acting on it. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { call } from './api.ts';
import { asProblem, type Problem } from './problem.ts';

export interface Resource<Data> {
  data: Data | undefined;
  problem: Problem | null;
  /** Reads it again; what is shown stays until the response arrives. */
  reload(): void;
  /** Reads it again, unless it is being read: for calls at intervals, which a slow connection may not keep up with. */
  refresh(): void;
  /** Shows another value, such as the response of an action. A reading that began before it is dropped as older. */
  replace(data: Data): void;
}

interface ResourceState<Data> {
  path: string | null;
  data?: Data;
  problem: Problem | null;
}

/** Reads a path of the API, and again when the path changes; null reads nothing. */
export function useResource<Data>(path: string | null): Resource<Data> {
  const [state, setState] = useState<ResourceState<Data>>({ path, problem: null });
  const [round, setRound] = useState(0);
  const reading = useRef<AbortController | null>(null);
  useEffect(() => {
    if (path === null) return;
    const gone = new AbortController();
    reading.current = gone;
    const end = (next: (before: ResourceState<Data>) => ResourceState<Data>) => {
      if (gone.signal.aborted) return;
      reading.current = null;
      setState(next);
    };
    call<Data>('GET', path, { signal: gone.signal }).then(
      (data) => end(() => ({ path, data, problem: null })),
      (error) => end((before) => ({ ...before, path, problem: asProblem(error) })),
    );
    return () => stop(reading);
  }, [path, round]);
  const reload = useCallback(() => setRound((count) => count + 1), []);
  const refresh = useCallback(() => {
    if (reading.current === null) reload();
  }, [reload]);
  const replace = useCallback(
    (data: Data) => {
      stop(reading);
      setState({ path, data, problem: null });
    },
    [path],
  );
  const isCurrent = state.path === path;
  return {
    data: isCurrent ? state.data : undefined,
    problem: isCurrent ? state.problem : null,
    reload,
    refresh,
    replace,
  };
}

function stop(reading: { current: AbortController | null }): void {
  reading.current?.abort();
  reading.current = null;
}

interface Page<Item> {
  data: Item[];
  next_cursor: string | null;
}

export interface List<Item> {
  items: Item[] | undefined;
  problem: Problem | null;
  isLoading: boolean;
  hasMore: boolean;
  loadMore(): void;
  reload(): void;
}

/** Reads a list of the API page by page, newest first. Read again, it has as many items as were shown. */
export function useList<Item>(path: string): List<Item> {
  const [shown, setShown] = useState<Page<Item> | undefined>(undefined);
  const gone = useRef(new AbortController());
  const readPage = (cursor: string | null) => {
    const query = cursor === null ? '' : `${path.includes('?') ? '&' : '?'}cursor=${cursor}`;
    return call<Page<Item>>('GET', path + query, { signal: gone.current.signal });
  };
  const reading = useAction(async ({ isMore }: { isMore: boolean }) => {
    let { data, next_cursor } = isMore && shown ? shown : await readPage(null);
    const wanted = (shown?.data.length ?? 0) + (isMore ? 1 : 0);
    while (next_cursor !== null && data.length < wanted) {
      const page = await readPage(next_cursor);
      data = [...data, ...page.data];
      next_cursor = page.next_cursor;
    }
    setShown({ data, next_cursor });
  });
  const { run, isBusy } = reading;
  const isOutdated = useRef(false);
  const reload = () => {
    // A read in progress may be older than the change: another one follows it.
    isOutdated.current = !run({ isMore: false });
  };
  useEffect(() => {
    if (!isBusy && isOutdated.current) reload();
  }, [isBusy]);
  useEffect(() => {
    run({ isMore: false });
    return () => gone.current.abort();
  }, [run]);
  return {
    items: shown?.data,
    problem: reading.problem,
    isLoading: isBusy,
    hasMore: shown !== undefined && shown.next_cursor !== null,
    loadMore: () => run({ isMore: true }),
    reload,
  };
}

export interface Action<Input> {
  /** Starts it; false when it is under way already. */
  run(input: Input): boolean;
  isBusy: boolean;
  problem: Problem | null;
  clear(): void;
}

/** Something that a person starts. While it is under way it cannot be started again. */
export function useAction<Input = void>(work: (input: Input) => Promise<void>): Action<Input> {
  const [isBusy, setIsBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const latest = useRef(work);
  latest.current = work;
  const busy = useRef(false);
  const run = useCallback((input: Input) => {
    if (busy.current) return false;
    busy.current = true;
    setIsBusy(true);
    setProblem(null);
    latest
      .current(input)
      .catch((error) => setProblem(asProblem(error)))
      .finally(() => {
        busy.current = false;
        setIsBusy(false);
      });
    return true;
  }, []);
  const clear = useCallback(() => setProblem(null), []);
  return { run, isBusy, problem, clear };
}
