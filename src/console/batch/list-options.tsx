/** The options of a held list, each with what it saves or costs. */

import { errorOf, NumberField, restOf, TextField } from '../components/field.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { countOf } from '../format.ts';
import { FieldsChooser } from '../search/fields-chooser.tsx';
import type { Batch } from './batch.ts';
import { columnsOf, rememberColumns } from './list-columns.ts';
import { MatchByName } from './match-by-name.tsx';
import { findOperation, subjectOf } from './operations.ts';
import type { Changes } from './use-changes.ts';

/** The fields of the API that are shown here. */
const shownFields = ['name', 'fields', 'max_credits', 'dedupe', 'require_agreement'];

interface ListOptionsProps {
  batch: Batch;
  changes: Changes;
  /** True when a column of the list can contradict a match. */
  hasNames: boolean;
}

export function ListOptions({ batch, changes, hasNames }: ListOptionsProps) {
  const { pending, change, problem, retry } = changes;
  const { name, fields, dedupe, require_agreement: isStrict } = { ...batch, ...pending };
  const limit = pending.max_credits === undefined ? batch.credits.max : pending.max_credits;
  const set = columnsOf(batch.operation);
  return (
    <section class="card stack" aria-labelledby="options-title">
      <h2 id="options-title">Options</h2>
      <div class="fields">
        <TextField
          id="name"
          label="Name"
          value={name}
          onInput={(text) => change({ name: text })}
          hint="Downloads are named after it."
          error={errorOf(problem, 'name')}
        />
        <NumberField
          id="max_credits"
          label="Stop at"
          value={limit}
          onChange={(max_credits) => change({ max_credits })}
          placeholder="no limit"
          hint="Credits. The list pauses there; you can raise the limit and continue."
          error={errorOf(problem, 'max_credits')}
        />
      </div>
      <div class="switches">
        <Switch
          label={`Charge once per ${subjectOf(batch.operation)}`}
          isOn={dedupe}
          onChange={(isOn) => change({ dedupe: isOn })}
        >
          {sayRepeats(batch, dedupe)}
        </Switch>
        {(hasNames || batch.match === 'likely') && <MatchByName batch={batch} changes={changes} />}
        {hasNames && (
          <Switch
            label="Skip matches whose name disagrees"
            isOn={isStrict}
            onChange={(isOn) => change({ require_agreement: isOn })}
          >
            A record with another name or company than your row is not a match and costs nothing.
          </Switch>
        )}
      </div>
      {set !== null && (
        <FieldsChooser
          columns={set}
          fields={fields}
          onChange={(chosen) => {
            rememberColumns(batch.operation, chosen);
            change({ fields: chosen });
          }}
          error={errorOf(problem, 'fields')}
        />
      )}
      <ProblemNotice problem={restOf(problem, shownFields)} onRetry={retry} />
    </section>
  );
}

/** The credits that charging once saves, as far as the price of the list shows them. */
function sayRepeats({ quote, operation, live }: Batch, isOn: boolean): string {
  const repeats = quote?.rows?.duplicate ?? 0;
  const subject = subjectOf(operation);
  const about = `Rows that repeat a ${subject} are marked “Duplicate” and cost nothing.`;
  if (!isOn || repeats === 0) return about;
  const rows = countOf(repeats, 'row repeats', 'rows repeat');
  // An account that owns what it has paid for is not charged for a repeated person in any case.
  if ((quote?.owned ?? 0) > 0) return `${rows} a ${subject}, marked “Duplicate”.`;
  const saved = repeats * (live ? (findOperation(operation)?.price ?? 0) : 0);
  return `${rows} a ${subject}. You save ${countOf(saved, 'credit')}.`;
}

interface SwitchProps {
  label: string;
  isOn: boolean;
  onChange: (isOn: boolean) => void;
  children: string;
}

function Switch({ label, isOn, onChange, children }: SwitchProps) {
  return (
    <label>
      <input
        type="checkbox"
        checked={isOn}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>
        {label}
        <span class="hint">{children}</span>
      </span>
    </label>
  );
}
