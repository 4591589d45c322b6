import { useEffect, useRef, useState } from 'preact/hooks';
import { PageHeader } from '../components/page-header.tsx';
import { FoundPeople } from '../exports/found-people.tsx';
import { NewExport } from '../exports/new-export.tsx';
import { countOf } from '../format.ts';
import { PERSON_PRICE } from '../priced-operations.ts';
import { goTo, linkTo, readId } from '../router.ts';
import { NewSchedule } from '../schedules/new-schedule.tsx';
import { ScheduleFilter } from '../schedules/schedule-filter.tsx';
import { FilterBuilder } from '../search/filter-builder.tsx';
import { addressable } from '../search/filter-text.ts';
import { type Preview, PreviewPanel } from '../search/preview-panel.tsx';
import { SavedSearches } from '../search/saved-searches.tsx';
import { session } from '../session.ts';
import { useAsTyped } from '../use-as-typed.ts';
import type { PageProps } from './page.ts';

const views = [
  { view: 'filter', label: 'Filter', scope: 'search' },
  { view: 'people', label: 'People', scope: 'search' },
  { view: 'export', label: 'Export', scope: 'exports' },
  { view: 'schedule', label: 'Schedule', scope: 'exports' },
] as const;
type View = (typeof views)[number]['view'];

/** Actions that the key may take, without those of a schedule whose search is being changed. */
function viewsFor(scheduleId: string | null) {
  const scopes = session.get()?.key.scopes ?? [];
  return views.filter(
    ({ scope }) => scopes.includes(scope) && (scheduleId === null || scope === 'search'),
  );
}

/** Builds the filter of a search, sees whom it means, and does something with them. */
export function SearchPage({ query }: PageProps) {
  const [filter, setFilter] = useFilterOfAddress(query);
  const scheduleId = readId(query.get('schedule'));
  const isEmpty = filter === '';
  const allowed = viewsFor(scheduleId);
  const asked = allowed.find((one) => one.view === query.get('view'))?.view;
  const view = isEmpty || asked === undefined ? 'filter' : asked;
  const preview = useAsTyped<Preview>(
    filter === '' ? null : `/personsearch/preview?${addressable(filter)}`,
  );
  const total = preview.isSettled && preview.problem === null ? preview.data : undefined;
  // Such a filter can be read: it is only not counted.
  const isCounted = preview.problem?.code !== 'identifying_filter';
  const unreadable = isCounted ? preview.problem : null;
  return (
    <>
      <PageHeader
        title="Search"
        about={`Find people by job, company, location and more. ${countOf(PERSON_PRICE, 'credit')} per person you show or export.`}
      />
      {scheduleId !== null && <ScheduleFilter id={scheduleId} filter={filter} />}
      <ViewLinks
        view={view}
        filter={filter}
        scheduleId={scheduleId}
        onClear={() => setFilter('')}
      />
      {view === 'filter' && scheduleId === null && (
        <SavedSearches filter={filter} onOpen={setFilter} />
      )}
      {view === 'people' ? (
        <FoundPeople filter={filter} preview={total} />
      ) : (
        <div class="search wide-side">
          <div>
            {view === 'filter' && (
              <FilterBuilder filter={filter} onChange={setFilter} problem={unreadable} />
            )}
            {view === 'export' && (
              <NewExport filter={filter} preview={total} isCounted={isCounted} />
            )}
            {view === 'schedule' && <NewSchedule filter={filter} />}
          </div>
          <aside class="search-side" aria-label="Preview of the search">
            <div class="card stack">
              <PreviewPanel isEmpty={isEmpty} preview={preview} />
            </div>
          </aside>
        </div>
      )}
    </>
  );
}

const WRITE_MS = 300;

/** The filter in the address, as it is typed: written there after a pause, and read when it changes. */
function useFilterOfAddress(query: URLSearchParams): [string, (filter: string) => void] {
  const inAddress = query.get('filter') ?? '';
  const [filter, setFilter] = useState(inAddress);
  const written = useRef(inAddress);
  useEffect(() => {
    if (inAddress === written.current) return;
    written.current = inAddress;
    setFilter(inAddress);
  }, [inAddress]);
  useEffect(() => {
    if (filter === written.current) return;
    const timer = setTimeout(() => {
      // A link has written it meanwhile.
      if (filter === written.current) return;
      written.current = filter;
      goTo('/search', { ...Object.fromEntries(query), filter }, true);
    }, WRITE_MS);
    return () => clearTimeout(timer);
  }, [filter]);
  return [filter, setFilter];
}

interface ViewLinksProps {
  view: View;
  filter: string;
  /** Of the schedule whose search is changed. */
  scheduleId: string | null;
  onClear: () => void;
}

function ViewLinks({ view, filter, scheduleId, onClear }: ViewLinksProps) {
  const also = scheduleId === null ? {} : { schedule: scheduleId };
  return (
    <nav class="views" aria-label="Search">
      {viewsFor(scheduleId).map(({ view: target, label }) =>
        filter === '' && target !== 'filter' ? (
          <span key={target} class="view-link off" title="Add a filter first">
            {label}
            <span class="unseen"> (add a filter first)</span>
          </span>
        ) : (
          <a
            key={target}
            class="view-link"
            href={linkTo('/search', { filter, view: target, ...also })}
            aria-current={view === target ? 'page' : undefined}
          >
            {label}
          </a>
        ),
      )}
      {view === 'filter' && filter !== '' && (
        <button type="button" class="link-button" onClick={onClear}>
          Clear
        </button>
      )}
    </nav>
  );
}
