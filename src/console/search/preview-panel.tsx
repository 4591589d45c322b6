import type { Calls } from '../../client/api-types.ts';
import { ProblemNotice } from '../components/problem-notice.tsx';
import {
  countOf,
  formatNumber,
  formatShare,
  formatTotal,
  priceOfPeople,
  totalOf,
} from '../format.ts';
import { PERSON_PRICE } from '../priced-operations.ts';
import type { Problem } from '../problem.ts';
import { creditsRemaining, session } from '../session.ts';
import { useStore } from '../store.ts';
import type { AsTyped } from '../use-as-typed.ts';
import { fieldGroups, fieldLabel, mainFields } from './person-fields.ts';

/** The counts and prices of a search. */
export type Preview = Calls['GET /v1/personsearch/preview']['response'];

interface PreviewPanelProps {
  isEmpty: boolean;
  preview: AsTyped<Preview>;
}

/** How many people the filter means, what they would cost, and what is known of them; free. */
export function PreviewPanel({ isEmpty, preview }: PreviewPanelProps) {
  const { data, problem, isSettled } = preview;
  if (isEmpty) {
    return (
      <p class="soft">
        Describe who you are looking for. Roughly how many people match, and what they cost, appears
        here as you type, for free.
      </p>
    );
  }
  return (
    <>
      <div
        class={isSettled ? 'count settling' : 'count settling stale'}
        aria-live="polite"
        aria-busy={!isSettled}
      >
        {problem === null ? <Count preview={data} /> : <PreviewProblem problem={problem} />}
      </div>
      {problem === null && data !== undefined && data.total_is !== 'below' && (
        <Known preview={data} />
      )}
    </>
  );
}

function Count({ preview }: { preview: Preview | undefined }) {
  const remaining = useStore(creditsRemaining);
  const isLive = session.get()?.key.mode === 'live';
  if (preview === undefined) return <p class="soft">Counting …</p>;
  const { total_is, estimated_credits: credits, owned, unknown_values: unknown } = preview;
  return (
    <>
      <p class="count-total">
        <strong>{formatTotal(preview)}</strong> people
      </p>
      <p class="soft">
        {isLive
          ? `${owned > 0 ? totalOf({ total: credits, total_is }, 'credit') : priceOfPeople(preview)} for all of them`
          : 'Free in test mode'}
        {isLive && remaining !== null && remaining < credits
          ? `; the account has ${formatNumber(remaining)}`
          : ''}
      </p>
      {owned > 0 && <p class="soft">You already have {formatNumber(owned)} of these.</p>}
      {unknown.length > 0 && (
        <p class="notice warn">
          Not found in the lookups: {unknown.map(({ value }) => `“${value}”`).join(', ')}. Check the
          spelling.
        </p>
      )}
      {total_is === 'below' && (
        <p class="soft">
          Possibly none. Groups this small are not counted for free: show the people and pay for
          those who are found.
        </p>
      )}
    </>
  );
}

function PreviewProblem({ problem }: { problem: Problem }) {
  if (problem.code === 'identifying_filter') {
    return (
      <p class="notice">
        A search by name, address, number or profile is not counted for free. Show the people: you
        pay {countOf(PERSON_PRICE, 'credit')} for each person found, and nothing if none is found.
      </p>
    );
  }
  if (problem.status === 400) {
    return <p class="error">Fix the highlighted filter to see results.</p>;
  }
  if (problem.code === 'search_timeout') {
    return (
      <p class="notice warn">
        These people take too long to count. Ask for something that few have, such as a job title, a
        city, a company or a skill. You can still export them.
      </p>
    );
  }
  return <ProblemNotice problem={problem} />;
}

function Known({ preview: { total, total_is, fields } }: { preview: Preview }) {
  const told = { total, fields, isRounded: total_is !== 'exact' };
  return (
    <details class="known more-options" open={wide.matches}>
      <summary>Data available</summary>
      <FillList names={mainFields} {...told} />
      <details class="more-options">
        <summary>All fields</summary>
        <div class="stack tight">
          {fieldGroups.map((group) => (
            <div key={group.label}>
              <h3>{group.label}</h3>
              <FillList names={Object.keys(group.fields)} {...told} />
            </div>
          ))}
        </div>
      </details>
    </details>
  );
}

/** There is room beside the form. */
const wide = matchMedia('(min-width: 72rem)');

/** A count that is told as 0: fewer than ten, perhaps none. */
export const FEW = 'under 10';

interface FillListProps {
  names: readonly string[];
  total: number;
  fields: Readonly<Record<string, number>>;
  isRounded: boolean;
}

/** How many of the people have each field. */
function FillList({ names, total, fields, isRounded }: FillListProps) {
  return (
    <ul class="fills">
      {names.map((name) => {
        const count = fields[name] ?? 0;
        return (
          <li key={name}>
            <span>{fieldLabel(name)}</span>
            <span class="number">
              {count === 0 && isRounded ? (
                <span class="soft">{FEW}</span>
              ) : (
                <>
                  {formatNumber(count)} <span class="soft">{formatShare(count, total)}</span>
                </>
              )}
            </span>
            <span class="fill" aria-hidden="true">
              <span style={{ width: `${(100 * count) / Math.max(1, total)}%` }} />
            </span>
          </li>
        );
      })}
    </ul>
  );
}
