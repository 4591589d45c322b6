import { type Batch, isFinal } from '../batch/batch.ts';
import { FirstSteps } from '../components/first-steps.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { countOf, formatNumber } from '../format.ts';
import { linkTo } from '../router.ts';
import { session } from '../session.ts';
import { useResource } from '../use-call.ts';

/** The first page of a newcomer. */
export function WelcomePage() {
  return (
    <>
      <PageHeader
        title="Welcome"
        about="A few things to try. You see each price before anything is charged."
      />
      <div class="stack">
        {session.get()?.key.scopes.includes('batches') && <LatestList />}
        <FirstSteps />
      </div>
    </>
  );
}

/** Leads to a list that is there already, such as that of the demo. */
function LatestList() {
  const lists = useResource<{ data: Batch[] }>('/v1/batches?limit=1');
  const [latest] = lists.data?.data ?? [];
  if (latest === undefined || !isFinal(latest.state) || latest.rows.matched === 0) return null;
  const { id, name, rows } = latest;
  return (
    <p class="card">
      Your list “{name}” is enriched: {formatNumber(rows.matched)} of{' '}
      {countOf(rows.total ?? 0, 'row')} matched.{' '}
      <a href={linkTo(`/batches/${id}`)}>See the results</a>
    </p>
  );
}
