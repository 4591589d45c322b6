import { useEffect, useState } from 'preact/hooks';
import { isFinal } from '../batch/batch.ts';
import { readFirstRows } from '../batch/read-first-rows.ts';
import { FillRates } from '../batch/report.tsx';
import { Button } from '../components/button.tsx';
import { Loading } from '../components/loading.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { countOf, formatNumber } from '../format.ts';
import { PERSON_PRICE } from '../priced-operations.ts';
import { asProblem, type Problem } from '../problem.ts';
import { PeopleTable, type Person } from '../search/people-table.tsx';
import { useSearchName } from '../search/search-name.ts';
import { useAction, useResource } from '../use-call.ts';
import type { ExportFile } from './export-file.ts';
import { filterAfter, takePeople } from './take-people.ts';

const SHOWN = 25;
const SHOWN_MORE = 100;

/** The first people of the file, with the columns that it has, and as many more as are asked for. */
export function ExportPeople({ file }: { file: ExportFile }) {
  const [people, setPeople] = useState<readonly Person[] | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [count, setCount] = useState(SHOWN);
  const isEnough = (people?.length ?? 0) >= count;
  // While people are still missing here, each change of the count reads again.
  const round = isEnough || isFinal(file.state) ? 'last' : file.rows.processed;
  useEffect(() => {
    const gone = new AbortController();
    readFirstRows<Person>(`/v1/exports/${file.id}`, count, gone.signal).then(setPeople, (error) => {
      if (!gone.signal.aborted) setProblem(asProblem(error));
    });
    return () => gone.abort();
  }, [file.id, count, round]);
  if (problem !== null) return <ProblemNotice problem={problem} />;
  if (people === null) return <Loading />;
  const left = file.rows.matched - people.length;
  return (
    <>
      <PeopleTable people={people} />
      {left > 0 && (
        <div class="more">
          <p class="hint">The first {countOf(people.length, 'person', 'people')} of the file.</p>
          <Button
            isBusy={people.length < Math.min(count, file.rows.matched)}
            onClick={() => setCount(people.length + SHOWN_MORE)}
          >
            Show {formatNumber(Math.min(left, SHOWN_MORE))} more
          </Button>
        </div>
      )}
      {left <= 0 && <NextPeople file={file} last={people.at(-1)} />}
      {isFinal(file.state) && <ColumnsFilled id={file.id} />}
    </>
  );
}

/** Takes as many people again, from where the file ends. */
function NextPeople({ file, last }: { file: ExportFile; last: Person | undefined }) {
  const { max_results: people, filter } = file;
  const id = Number(last?.id);
  const isFull = people !== null && file.rows.matched === people;
  const next = isFull && filter !== null && id > 0 ? filterAfter(filter, id) : null;
  const search = useSearchName(filter ?? '');
  const taking = useAction(async () => {
    if (next === null || people === null) return;
    await takePeople({ search, filter: next, wanted: people, payable: people });
  });
  if (next === null || people === null) return null;
  const price = file.live ? `, ${countOf(people * PERSON_PRICE, 'credit')} at most` : '';
  return (
    <div class="more">
      <Button isBusy={taking.isBusy} onClick={() => taking.run()}>
        {`Show up to ${formatNumber(people)} more people${price}`}
      </Button>
      <ProblemNotice problem={taking.problem} />
    </div>
  );
}

function ColumnsFilled({ id }: { id: string }) {
  const { data } = useResource<{ fill_rate: Record<string, number> }>(`/v1/exports/${id}/report`);
  return data === undefined ? null : <FillRates data={data} />;
}
