/** The people of a search before they are paid, in groups, and the way to take some of them. */
import { useState } from 'preact/hooks';
import type { Calls } from '../../client/api-types.ts';
import { Button } from '../components/button.tsx';
import { SelectField } from '../components/field.tsx';
import { Loading } from '../components/loading.tsx';
import { NoCredits } from '../components/no-credits.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { Table } from '../components/table.tsx';
import { countOf, formatNumber, formatShare, totalOf } from '../format.ts';
import { PERSON_PRICE } from '../priced-operations.ts';
import { linkTo } from '../router.ts';
import { addressable } from '../search/filter-text.ts';
import { FilterWords } from '../search/filter-words.tsx';
import { fieldLabel } from '../search/person-fields.ts';
import { FEW, type Preview } from '../search/preview-panel.tsx';
import { useSearchName } from '../search/search-name.ts';
import { creditsRemaining, session } from '../session.ts';
import { useStore } from '../store.ts';
import { useAction, useResource } from '../use-call.ts';
import { PaidAgain } from './paid-again.tsx';
import { takePeople } from './take-people.ts';

interface FoundPeopleProps {
  filter: string;
  /** Undefined while it is not known, and for a filter that is not counted. */
  preview: Preview | undefined;
}

export function FoundPeople({ filter, preview }: FoundPeopleProps) {
  return (
    <div class="stack">
      <section class="card stack tight" aria-labelledby="take-title">
        <h2 id="take-title">
          {preview === undefined
            ? 'People of this search'
            : capital(totalOf(preview, 'person', 'people'))}
        </h2>
        <FilterWords filter={filter} />
        {preview !== undefined && preview.owned > 0 && (
          <p class="notice">
            You already have {formatNumber(preview.owned)} of these. They are not charged again.
          </p>
        )}
        <TakeForm filter={filter} preview={preview} />
        {session.get()?.key.mode === 'live' && <PaidAgain />}
      </section>
      {preview !== undefined && preview.total_is !== 'below' && <Groups filter={filter} />}
    </div>
  );
}

const limits = [10, 25, 50, 100, 250, 500, 1000];

/** How many people to take, and what that costs. */
function TakeForm({ filter, preview }: FoundPeopleProps) {
  const [limit, setLimit] = useState(25);
  const remaining = useStore(creditsRemaining);
  const search = useSearchName(filter);
  const taking = useAction((people: number) =>
    takePeople({ search, filter, wanted: limit, payable: people }),
  );
  const { key } = session.get() ?? {};
  const isLive = key?.mode === 'live';
  if (!key?.scopes.includes('exports')) {
    return <p class="notice">Showing people needs a key with the permission “exports”.</p>;
  }
  // No one pays for more people than there are.
  const most = preview?.total_is === 'below' ? Math.min(limit, preview.total - 1) : limit;
  const cost = most * PERSON_PRICE;
  const payable = isLive && remaining !== null ? Math.floor(remaining / PERSON_PRICE) : most;
  const people = Math.min(most, payable);
  const price = isLive ? `, ${countOf(people * PERSON_PRICE, 'credit')} at most` : '';
  return (
    <>
      {isLive && remaining !== null && remaining < cost && (
        <NoCredits>
          This needs up to {countOf(cost, 'credit')}, and the account has {formatNumber(remaining)}.
        </NoCredits>
      )}
      <div class="take">
        <SelectField
          id="limit"
          label="How many"
          value={String(limit)}
          onChange={(value) => setLimit(Number(value))}
          options={limits.map((one) => ({ value: String(one), label: formatNumber(one) }))}
        />
        <div class="take-button">
          {people > 0 && (
            <Button kind="primary" isBusy={taking.isBusy} onClick={() => taking.run(people)}>
              {`Show up to ${countOf(people, 'person', 'people')}${price}`}
            </Button>
          )}
          <p class="hint">
            {isLive
              ? 'You find them under Exports, to view and download at any time.'
              : 'Nothing is charged in test mode.'}
          </p>
        </div>
      </div>
      <ProblemNotice problem={taking.problem}>
        {taking.problem?.code === 'search_timeout' && (
          <a href={linkTo('/search', { filter, view: 'export' })}>Export them instead</a>
        )}
      </ProblemNotice>
    </>
  );
}

type Breakdown = Calls['GET /v1/personsearch/breakdown']['response'];
type GroupedRow = Breakdown['rows'][number];

/** The people before they are paid for: groups of at least ten. */
function Groups({ filter }: { filter: string }) {
  const { data, problem, reload } = useResource<Breakdown>(
    `/v1/personsearch/breakdown?${addressable(filter)}`,
  );
  if (problem !== null) return <ProblemNotice problem={problem} onRetry={reload} />;
  if (data === undefined) return <Loading />;
  return (
    <>
      {data.rows.length > 0 && (
        <section class="card" aria-labelledby="groups-title">
          <h2 id="groups-title">Who they are</h2>
          <p class="soft">
            People with the same job title, company size and country. Names and contacts are shown
            once you pay for them. Groups of fewer than ten are not shown.
          </p>
          <Table
            caption="Groups of people before payment"
            columns={[
              {
                header: 'Job title',
                cell: ({ title }: GroupedRow) => title ?? 'Other or no title',
              },
              { header: 'Company size', cell: ({ company_size }) => company_size ?? 'Unknown' },
              { header: 'Country', cell: ({ country }) => country ?? 'Unknown' },
              { header: 'People', isNumber: true, cell: ({ people }) => formatNumber(people) },
              ...masked.map((name) => ({
                header: fieldLabel(name),
                isNumber: true,
                cell: ({ fields, people }: GroupedRow) =>
                  fields[name] ? formatShare(fields[name], people) : FEW,
              })),
            ]}
            rows={data.rows}
            keyOf={({ title, company_size, country }) => `${title} ${company_size} ${country}`}
          />
        </section>
      )}
      <div class="breakdown">
        <Shares title="Countries" groups={data.countries} />
        <Shares title="Industries" groups={data.industries} />
        <Shares title="Company sizes" groups={data.company_sizes} />
      </div>
    </>
  );
}

const masked = ['workEmail', 'email', 'mobile', 'phone'] as const;

/** The largest groups of one kind, with bars. */
function Shares({ title, groups }: { title: string; groups: Breakdown['countries'] }) {
  if (groups.length === 0) return null;
  const most = Math.max(...groups.map(({ people }) => people));
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      <ul class="fills">
        {groups.map(({ name, people }) => (
          <li key={name}>
            <span>{name ?? 'Unknown'}</span>
            <span class="number">about {formatNumber(people)}</span>
            <span class="fill" aria-hidden="true">
              <span style={{ width: `${(100 * people) / most}%` }} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
