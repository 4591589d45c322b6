import { useEffect, useState } from 'preact/hooks';
import { isFinal } from '../batch/batch.ts';
import { readFirstRows } from '../batch/read-first-rows.ts';
import { FillRates } from '../batch/report.tsx';
import { Loading } from '../components/loading.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { countOf } from '../format.ts';
import { asProblem, type Problem } from '../problem.ts';
import { PeopleTable, type Person } from '../search/people-table.tsx';
import { useResource } from '../use-call.ts';
import type { ExportFile } from './export-file.ts';

const SHOWN = 25;

/** The first people of the file, with the columns that it has. */
export function ExportPeople({ file }: { file: ExportFile }) {
  const [people, setPeople] = useState<readonly Person[] | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const isEnough = (people?.length ?? 0) >= SHOWN;
  // While people are still missing here, each change of the count reads again.
  const round = isEnough || isFinal(file.state) ? 'last' : file.rows.processed;
  useEffect(() => {
    const gone = new AbortController();
    readFirstRows<Person>(`/v1/exports/${file.id}`, SHOWN, gone.signal).then(setPeople, (error) => {
      if (!gone.signal.aborted) setProblem(asProblem(error));
    });
    return () => gone.abort();
  }, [file.id, round]);
  if (problem !== null) return <ProblemNotice problem={problem} />;
  if (people === null) return <Loading />;
  return (
    <>
      <PeopleTable people={people} />
      <p class="hint">The first {countOf(people.length, 'person', 'people')} of the file.</p>
      {isFinal(file.state) && <ColumnsFilled id={file.id} />}
    </>
  );
}

function ColumnsFilled({ id }: { id: string }) {
  const { data } = useResource<{ fill_rate: Record<string, number> }>(`/v1/exports/${id}/report`);
  return data === undefined ? null : <FillRates data={data} />;
}
