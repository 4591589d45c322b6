/** An ambiguous row and the records that it may mean, side by side. */
import type { Calls } from '../../client/api-types.ts';
import { Button } from '../components/button.tsx';
import { formatShare, inOrder } from '../format.ts';
import type { Decisions } from './use-decisions.ts';

export type AmbiguousRow = Calls['GET /v1/batches/{id}/ambiguous']['response']['data'][number];
type Candidate = AmbiguousRow['candidates'][number];

interface AmbiguousRowProps {
  row: AmbiguousRow;
  /** Names of the list's columns. */
  header: readonly string[];
  isCurrent: boolean;
  choice: ReturnType<Decisions['choices']['get']>;
  /** Undefined clears the choice. */
  onChoose: (id: number | null | undefined) => void;
  onFocus: () => void;
}

export function AmbiguousRowCard(props: AmbiguousRowProps) {
  const { row, header, isCurrent, choice, onChoose, onFocus } = props;
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
            <dt>{inOrder(name)}</dt>
            <dd>{inOrder(cell)}</dd>
          </div>
        ))}
      </dl>
      {choice?.isSaved ? (
        <p class="soft" role="status">
          {choice.id === null
            ? 'None of these. Nothing was charged.'
            : `Matched with record ${choice.id}.`}
        </p>
      ) : (
        <>
          <ol class="candidates">
            {row.candidates.map((candidate, index) => (
              <CandidateCard
                key={candidate.id}
                candidate={candidate}
                number={index + 1}
                isChosen={choice?.id === candidate.id}
                onChoose={() => onChoose(candidate.id)}
              />
            ))}
          </ol>
          <div class="buttons">
            <Button
              kind="quiet"
              isPressed={choice !== undefined && choice.id === null}
              onClick={() => onChoose(null)}
            >
              None of these
            </Button>
            <Button
              kind="quiet"
              isDisabled={choice === undefined}
              onClick={() => onChoose(undefined)}
            >
              Clear choice
            </Button>
          </div>
        </>
      )}
    </li>
  );
}

interface CandidateProps {
  candidate: Candidate;
  number: number;
  isChosen: boolean;
  onChoose: () => void;
}

function CandidateCard({ candidate, number, isChosen, onChoose }: CandidateProps) {
  const { id, probability, evidence, traits } = candidate;
  const known = Object.entries(traits ?? {}).flatMap(([name, value]) =>
    value === null ? [] : [{ name, value }],
  );
  return (
    <li class={`candidate${isChosen ? ' chosen' : ''}`}>
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
      <Button isPressed={isChosen} onClick={onChoose}>{`Choose ${number}`}</Button>
    </li>
  );
}
