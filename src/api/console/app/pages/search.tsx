import { useEffect, useRef, useState } from 'preact/hooks';
import { PageHeader } from '../components/page-header.tsx';
import { NewExport } from '../exports/new-export.tsx';
import type { PageProps } from '../page.ts';
import { goTo, linkTo } from '../router.ts';
import { FilterBuilder } from '../search/filter-builder.tsx';
import { addressable } from '../search/filter-text.ts';
import { FoundPeople } from '../search/found-people.tsx';
import { type Preview, PreviewPanel } from '../search/preview-panel.tsx';
import { useAsTyped } from '../use-as-typed.ts';

const views = [
  { view: 'filter', label: 'Filter' },
  { view: 'people', label: 'People' },
  { view: 'export', label: 'Export' },
] as const;
type View = (typeof views)[number]['view'];

/** Builds the filter of a search, sees whom it means, and does something with them. */
export function SearchPage({ query }: PageProps) {
  const [filter, setFilter] = useFilterOfAddress(query);
  const isEmpty = filter === '';
  const asked = views.find((one) => one.view === query.get('view'))?.view;
  const view = isEmpty || asked === undefined ? 'filter' : asked;
  const preview = useAsTyped<Preview>(
    filter === '' ? null : `/personsearch/preview?${addressable(filter)}`,
  );
  const total = preview.isSettled && preview.problem === null ? preview.data?.total : undefined;
  return (
    <>
      <PageHeader
        title="Search"
        about="Find people by anything that is known of them. You pay for those whom you take, 1 credit a person."
      />
      <ViewLinks view={view} filter={filter} onClear={() => setFilter('')} />
      {view === 'people' ? (
        <FoundPeople filter={filter} total={total} />
      ) : (
        <div class="search wide-side">
          <div>
            {view === 'filter' && (
              <FilterBuilder filter={filter} onChange={setFilter} problem={preview.problem} />
            )}
            {view === 'export' && <NewExport filter={filter} total={total} />}
          </div>
          <aside class="search-side" aria-label="What the search would give">
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
  onClear: () => void;
}

function ViewLinks({ view, filter, onClear }: ViewLinksProps) {
  return (
    <nav class="views" aria-label="Search">
      {views.map(({ view: target, label }) => (
        <a
          key={target}
          class="view-link"
          href={linkTo('/search', { filter, view: target })}
          aria-current={view === target ? 'page' : undefined}
        >
          {label}
        </a>
      ))}
      {view === 'filter' && filter !== '' && (
        <button type="button" class="link-button" onClick={onClear}>
          Clear the filter
        </button>
      )}
    </nav>
  );
}
