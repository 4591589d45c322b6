import { Fact } from '../components/fact.tsx';
import { formatLabel } from '../exports/export-file.ts';
import { countOf, formatNumber } from '../format.ts';
import { linkTo } from '../router.ts';
import { FilterWords } from '../search/filter-words.tsx';
import type { Schedule } from './schedule-words.ts';
import { useRunPrice } from './use-run-price.ts';

/** The search of a schedule, and the contents of its files. */
export function ScheduleSource({ schedule }: { schedule: Schedule }) {
  const { id, live, mode, filter, fields, format, max_results, max_credits } = schedule;
  const { credits, said } = useRunPrice(filter, {
    maxResults: max_results,
    maxCredits: max_credits,
  });
  return (
    <section class="card" aria-labelledby="source-title">
      <div class="card-head">
        <h2 id="source-title">The search</h2>
        <a href={linkTo('/search', { filter, schedule: id })}>Change it</a>
      </div>
      <FilterWords filter={filter} />
      <dl class="facts source-facts">
        <Fact name="Columns">{fields === null ? 'All' : countOf(fields.length, 'column')}</Fact>
        <Fact name="Format">{formatLabel(format)}</Fact>
        <Fact name="People a run">
          {max_results === null ? 'No limit' : formatNumber(max_results)}
        </Fact>
        <Fact name="Credits a run">
          {max_credits === null ? 'No limit' : formatNumber(max_credits)}
        </Fact>
        {live && Number.isFinite(credits) && (
          <Fact name="Cost of a run today">
            up to {said}
            {mode === 'new' && ', for new people only'}
          </Fact>
        )}
      </dl>
    </section>
  );
}
