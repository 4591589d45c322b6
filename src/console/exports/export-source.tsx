import { Fact } from '../components/fact.tsx';
import { countOf, formatNumber } from '../format.ts';
import { linkTo } from '../router.ts';
import { FilterWords } from '../search/filter-words.tsx';
import { type ExportFile, formatLabel } from './export-file.ts';

/** The search of an export, and its options. */
export function ExportSource({ file }: { file: ExportFile }) {
  return (
    <section class="card" aria-labelledby="source-title">
      <div class="card-head">
        <h2 id="source-title">The search</h2>
        {file.filter !== null && <a href={linkTo('/search', { filter: file.filter })}>Open it</a>}
      </div>
      {file.filter === null ? (
        <p class="soft">Deleted with the files.</p>
      ) : (
        <FilterWords filter={file.filter} />
      )}
      <dl class="facts source-facts">
        <Fact name="Columns">
          {file.fields === null ? 'All' : countOf(file.fields.length, 'column')}
        </Fact>
        <Fact name="Format">{formatLabel(file.format)}</Fact>
        {file.max_results !== null && (
          <Fact name="Max people">{formatNumber(file.max_results)}</Fact>
        )}
        {file.schedule_id !== null && (
          <Fact name="Made by">
            <a href={linkTo(`/schedules/${file.schedule_id}`)}>Its schedule</a>
          </Fact>
        )}
      </dl>
    </section>
  );
}
