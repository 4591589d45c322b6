/** An ambiguous row and the records that it may mean, side by side. */
import type { Calls } from '../../client/api-types.ts';
import { Button } from '../components/button.tsx';
import { formatShare } from '../format.ts';
import type { Decisions } from './use-decisions.ts';

export type AmbiguousRow = Calls['GET /v1/batches/{id}/ambiguous']['response']['data'][number];
type Candidate = AmbiguousRow['candidates'][number];

interface AmbiguousRowProps {
  row: AmbiguousRow;
  /** Names of the list's columns. */
  header: readonly string[];
  isCurrent: boolean;
  chosen: ReturnType<Decisions['chosen']['get']>;
  onChoose: (id: number | null) => void;
  onFocus: () => void;
}

export function AmbiguousRowCard(props: AmbiguousRowProps) {
  const { row, header, isCurrent, chosen, onChoose, onFocus } = props;
  const isOpen = chosen === undefined || chosen.progress === 'refused';
  const filled = row.cells.flatMap((cell, index) =>
    cell === '' ? [] : [{ name: header[index] || `Column ${index + 1}`, cell }],
  );
  return (
    <li
      id={`row-${row.row}`}
      class={`card ambiguous-row${isCurrent ? ' current' : ''}`}
      aria-current={isCurrent}
      onFocusCapture={onFocus}
    >
      <h2>Row {row.row}</h2>
      <dl class="facts">
        {filled.map(({ name, cell }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{cell}</dd>
          </div>
        ))}
      </dl>
      {isOpen ? (
        <>
          <ol class="candidates">
            {row.candidates.map((candidate, index) => (
              <CandidateCard
                key={candidate.id}
                candidate={candidate}
                number={index + 1}
                onChoose={() => onChoose(candidate.id)}
              />
            ))}
          </ol>
          <Button kind="quiet" onClick={() => onChoose(null)}>
            None of these
          </Button>
        </>
      ) : (
        <p class="soft" role="status">
          {sayChosen(chosen.id, chosen.progress === 'done')}
        </p>
      )}
    </li>
  );
}

function sayChosen(id: number | null, isDone: boolean): string {
  if (!isDone) return 'Saving your choice…';
  return id === null ? 'None of these. Nothing was charged.' : `Matched with record ${id}.`;
}

interface CandidateProps {
  candidate: Candidate;
  number: number;
  onChoose: () => void;
}

function CandidateCard({ candidate, number, onChoose }: CandidateProps) {
  const { id, probability, evidence, traits } = candidate;
  const known = Object.entries(traits ?? {}).flatMap(([name, value]) =>
    value === null ? [] : [{ name, value }],
  );
  return (
    <li class="candidate">
      <strong>Record {id}</strong>
      <span class="soft">{formatShare(probability, 1)} likely</span>
      {known.length > 0 && (
        <ul class="plain">
          {known.map(({ name, value }) => (
            <li key={name}>{value}</li>
          ))}
        </ul>
      )}
      {evidence !== null && <p class="hint">{evidence}</p>}
      <Button onClick={onChoose}>{`Choose ${number}`}</Button>
    </li>
  );
}
