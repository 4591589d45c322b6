/** The people of a search: a page at a time, paid as it is asked for, and shown for as long as the console is open. */
import { useRef, useState } from 'preact/hooks';
import { send } from '../api.ts';
import { readOut } from '../components/announcer.tsx';
import { Button } from '../components/button.tsx';
import { SelectField } from '../components/field.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { countOf, type DisclosedTotal, formatNumber, totalOf } from '../format.ts';
import { PERSON_PRICE } from '../priced-operations.ts';
import type { Problem } from '../problem.ts';
import { linkTo } from '../router.ts';
import { creditsRemaining, session } from '../session.ts';
import { createStore, useStore } from '../store.ts';
import { type Action, useAction } from '../use-call.ts';
import { addressable } from './filter-text.ts';
import { FilterWords } from './filter-words.tsx';
import { PeopleTable, type Person } from './people-table.tsx';

/** Pages of one search that were paid. */
interface Run {
  /** Whose people they are: another account or mode does not see them. */
  owner: string;
  filter: string;
  limit: number;
  people: readonly Person[];
  /** Where the next page is; null behind the last one. */
  next: string | null;
  /** True when the credits did not reach for all of the last page. */
  isShort: boolean;
}

/** What was paid last stays when somebody goes to another page and comes back. */
const latest = createStore<Run | null>(null);

interface FoundPeopleProps {
  filter: string;
  /** People that the filter finds; undefined while it is not known. */
  total: DisclosedTotal | undefined;
}

export function FoundPeople({ filter, total }: FoundPeopleProps) {
  const { run, taking, take, takeNext, takePart } = usePages(filter);
  const isOfFilter = run?.filter === filter;
  return (
    <div class="stack">
      <section class="card stack tight" aria-labelledby="take-title">
        <h2 id="take-title">
          {total === undefined
            ? 'People of this search'
            : capital(totalOf(total, 'person', 'people'))}
        </h2>
        <FilterWords filter={filter} />
        {isOfFilter ? (
          <div class="take-button">
            <p>{countOf(run.people.length, 'person is', 'people are')} shown here, and paid.</p>
            <Button kind="quiet" onClick={() => latest.set(null)}>
              Begin anew
            </Button>
          </div>
        ) : (
          <TakeForm total={total} taking={taking} onTake={take} />
        )}
        <TakeProblem problem={taking.problem} filter={filter} onPart={takePart} />
      </section>
      {run !== null && !isOfFilter && (
        <p class="notice warn">
          The filter has changed since: these are people of the search before. They are paid, and
          stay here until you take others.
        </p>
      )}
      {run?.isShort && (
        <p class="notice warn">
          The credits reached for these people alone. More are shown when there are more credits.
        </p>
      )}
      {run !== null && run.people.length > 0 && <PeopleTable people={run.people} />}
      {run !== null && (
        <div class="more">
          {run.next === null ? (
            <p class="soft">
              {run.people.length === 0 ? 'Nobody was found.' : 'That is everybody.'}
            </p>
          ) : (
            <Button isBusy={taking.isBusy} onClick={() => takeNext(run)}>
              {`Show up to ${formatNumber(run.limit)} more${price(run.limit)}`}
            </Button>
          )}
        </div>
      )}
    </div>
  );
}

interface Taking {
  path: string;
  before: readonly Person[];
  of: Pick<Run, 'filter' | 'limit'>;
}

/** The pages that were taken, and the ways to take more. */
function usePages(filter: string) {
  const kept = useStore(latest);
  const attempt = useRef<Taking | null>(null);
  const taking = useAction(async (page: Taking) => {
    attempt.current = page;
    const owner = ownerNow();
    const response = await send('GET', page.path, { isCharged: true });
    const people = (await response.json()) as Person[];
    const link = /<([^>]+)>; *rel="next"/.exec(response.headers.get('Link') ?? '')?.[1];
    latest.set({
      owner,
      filter: page.of.filter,
      limit: page.of.limit,
      people: [...page.before, ...people],
      next: link === undefined ? null : whole(link),
      isShort: response.headers.has('X-Partial'),
    });
    readOut(`${countOf(people.length, 'person', 'people')} added below`);
  });
  return {
    run: kept?.owner === ownerNow() ? kept : null,
    taking,
    take(limit: number) {
      const path = `/v1/personsearch?${addressable(filter)}&limit=${limit}`;
      taking.run({ path, before: [], of: { filter, limit } });
    },
    takeNext(run: Run) {
      if (run.next !== null) taking.run({ path: run.next, before: run.people, of: run });
    },
    /** What the wallet can pay of the page that it could not. */
    takePart() {
      const page = attempt.current;
      if (page === null) return;
      taking.run({ ...page, path: `${whole(page.path)}&partial=true` });
    },
  };
}

/** The page that is paid as a whole or not at all. */
function whole(path: string): string {
  return path.replace(/&partial=true\b/, '');
}

function ownerNow(): string {
  const { account, key } = session.get() ?? {};
  return `${account?.id} ${key?.mode}`;
}

function isLive(): boolean {
  return session.get()?.key.mode === 'live';
}

const limits = [10, 25, 50, 100, 250, 500, 1000];

interface TakeFormProps {
  total: DisclosedTotal | undefined;
  taking: Action<Taking>;
  onTake: (limit: number) => void;
}

/** How many people to take, and what that costs. */
function TakeForm({ total, taking, onTake }: TakeFormProps) {
  const [limit, setLimit] = useState(25);
  // Nobody pays for more people than there are.
  const most = total?.total_is === 'below' ? Math.min(limit, total.total - 1) : limit;
  return (
    <div class="take">
      <SelectField
        id="limit"
        label="How many"
        value={String(limit)}
        onChange={(value) => setLimit(Number(value))}
        options={limits.map((one) => ({ value: String(one), label: formatNumber(one) }))}
      />
      <div class="take-button">
        <Button kind="primary" isBusy={taking.isBusy} onClick={() => onTake(limit)}>
          {`Show up to ${countOf(most, 'person', 'people')}${price(most)}`}
        </Button>
        <p class="hint">
          {isLive() ? <Rest cost={most * PERSON_PRICE} /> : 'Nothing is charged in test mode.'}
        </p>
      </div>
    </div>
  );
}

/** What so many people cost at most. */
function price(people: number): string {
  return isLive() ? `, ${countOf(people * PERSON_PRICE, 'credit')} at most` : '';
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

function Rest({ cost }: { cost: number }) {
  const remaining = useStore(creditsRemaining);
  if (remaining === null) return <>You pay for those who are shown.</>;
  return cost > remaining ? (
    <>The account has {countOf(remaining, 'credit')}.</>
  ) : (
    <>The account has at least {countOf(remaining - cost, 'credit')} afterwards.</>
  );
}

interface TakeProblemProps {
  problem: Problem | null;
  filter: string;
  /** Takes what the wallet can pay. */
  onPart: () => void;
}

function TakeProblem({ problem, filter, onPart }: TakeProblemProps) {
  const { needed, available } = problem?.more ?? {};
  const isShort = problem?.status === 402 && typeof available === 'number';
  return (
    <ProblemNotice problem={problem}>
      {isShort && typeof needed === 'number' && (
        <p>
          Needed at most: {formatNumber(needed)}. Available: {formatNumber(available)}.
        </p>
      )}
      {problem?.code === 'search_timeout' && (
        <a href={linkTo('/search', { filter, view: 'export' })}>Make an export of it</a>
      )}
      {isShort && available > 0 && (
        <Button onClick={onPart}>
          Show the {countOf(available, 'person', 'people')} that can be paid
        </Button>
      )}
    </ProblemNotice>
  );
}
