/** The price of a held list: asked for, and again after each change that may alter it and when it is old. */
import { useEffect, useRef } from 'preact/hooks';
import { call } from '../api.ts';
import { now } from '../clock.ts';
import type { Problem } from '../problem.ts';
import { useAction } from '../use-call.ts';
import type { Batch } from './batch.ts';
import { tellMovedOn } from './moved-on.ts';
import type { Live } from './use-live-batch.ts';

export interface Price {
  /** The maximum cost of the list when it starts. */
  credits: number;
  /** The same without its own limit. */
  full: number;
  /** True when its own limit is lower than its price. */
  isCut: boolean;
  /** True when too few rows match to be counted for free. */
  isFew: boolean;
  /** `up to `, unless the price is exact. */
  most: string;
}

export interface Pricing {
  /** Null while it is not known. */
  price: Price | null;
  /** False while no column is chosen by which anything could be found. */
  isUsable: boolean;
  problem: Problem | null;
  retry: () => void;
}

/** A price older than this is asked for again when the list is opened: records may have come or gone. */
const FRESH_MS = 10 * 60_000;

/** A list may be priced a few times a minute. A longer limit, such as that of a day, is shown as a problem. */
const WAIT_SECONDS_MAX = 60;

/** `isCurrent` is false while the service does not know the list as it is shown. */
export function usePrice(
  batch: Batch,
  live: Live<Batch>,
  { isCurrent, isUsable }: { isCurrent: boolean; isUsable: boolean },
): Pricing {
  const { run, isBusy, problem, clear } = useAction(async () =>
    live.show(await tellMovedOn(live, call('POST', `/v1/batches/${batch.id}/quote`))),
  );
  const { quote, rows, state } = batch;
  const oldQuote = useRef(isOld(batch) ? quote?.asked_at : null);
  const isOutdated = quote !== null && quote.asked_at === oldQuote.current;
  const isMissing = quote === null || isOutdated;
  const isDue = state === 'ready' && isMissing && rows.total !== 0 && isCurrent && isUsable;
  const retrySeconds = problem?.retrySeconds ?? Number.POSITIVE_INFINITY;
  const seconds = retrySeconds > WAIT_SECONDS_MAX ? null : retrySeconds;
  useEffect(() => {
    if (isDue && !isBusy && problem === null) run();
  }, [isDue, isBusy, problem, run]);
  useEffect(() => {
    // Wait rather than complain.
    if (seconds === null) return;
    const timer = setTimeout(clear, seconds * 1000);
    return () => clearTimeout(timer);
  }, [seconds, problem, clear]);
  return {
    price: quote?.state === 'done' && !isOutdated && isCurrent && isUsable ? priceOf(batch) : null,
    isUsable,
    problem: seconds === null ? problem : null,
    retry: () => run(),
  };
}

function isOld({ quote }: Batch): boolean {
  return quote?.state === 'done' && now() - Date.parse(quote.asked_at) > FRESH_MS;
}

function priceOf({ quote, live, credits: { max } }: Batch): Price {
  const full = quote?.credits ?? 0;
  const limit = live ? max : null;
  const credits = limit === null ? full : Math.min(full, limit);
  const isFew = quote?.credits_is === 'at_most';
  const isCut = credits < full;
  return { credits, full, isCut, isFew, most: isFew || isCut ? 'up to ' : '' };
}
