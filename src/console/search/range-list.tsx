import { useState } from 'preact/hooks';
import { VALUES_SHOWN_MAX } from '../components/combobox.tsx';
import { describedBy, FieldNotes } from '../components/field.tsx';
import { Icon } from '../components/icon.tsx';
import { formatNumber } from '../format.ts';
import { type RangeDraft, readRange, writeRange } from './filter-form.ts';

interface RangeListProps {
  id: string;
  label: string;
  hint?: string | undefined;
  error?: string | undefined;
  /** Ranges as a filter writes them. */
  values: readonly string[];
  onChange: (values: string[]) => void;
  /** Ranges that people often ask for, and what they are called where the numbers are long. */
  usual: readonly UsualRange[];
}

export interface UsualRange {
  range: string;
  label?: string;
}

/** Ranges of which any will do: the usual ones to press, others to type. */
export function RangeList({ id, label, hint, error, values, onChange, usual }: RangeListProps) {
  const plain = values.map((value) => value.replaceAll(',', ''));
  const pressed = usual.map(({ range }) => range).filter((range) => plain.includes(range));
  const others = values.filter((_, place) => !pressed.includes(plain[place] ?? ''));
  // What is typed may be no range yet; it stays while the filter holds what it would write.
  const [typed, setTyped] = useState<readonly RangeDraft[]>([]);
  const written = (drafts: readonly RangeDraft[]) => drafts.map(writeRange).filter(Boolean);
  const isTyped = written(typed).join('|') === others.join('|');
  const drafts = isTyped ? typed : others.map(readRange);
  const change = (next: readonly RangeDraft[]) => {
    setTyped(next);
    onChange([...pressed, ...written(next)]);
  };
  const press = (range: string) => {
    const isPressed = pressed.includes(range);
    onChange([...pressed.filter((one) => one !== range), ...(isPressed ? [] : [range]), ...others]);
  };
  return (
    <fieldset class="field ranges" aria-describedby={describedBy({ id, hint, error })}>
      <legend>{label}</legend>
      <div class="pills">
        {usual.map(({ range, label: name }) => (
          <button
            key={range}
            type="button"
            class="pill"
            aria-pressed={pressed.includes(range)}
            onClick={() => press(range)}
          >
            {name ?? rangeLabel(range)}
          </button>
        ))}
        <button
          type="button"
          class="pill more-ranges"
          onClick={() => change([...drafts, { from: '', to: '' }])}
        >
          Other … <span class="unseen">range of {label}</span>
        </button>
      </div>
      {drafts.slice(0, VALUES_SHOWN_MAX).map((draft, place) => (
        <TypedRange
          key={place}
          label={label}
          number={place + 1}
          draft={draft}
          isWrong={error !== undefined}
          onChange={(next) => change(drafts.with(place, next))}
          onRemove={() => change(drafts.toSpliced(place, 1))}
        />
      ))}
      <FieldNotes id={id} hint={hint} error={error} />
    </fieldset>
  );
}

interface TypedRangeProps {
  label: string;
  /** Counted from 1. */
  number: number;
  draft: RangeDraft;
  isWrong: boolean;
  onChange: (draft: RangeDraft) => void;
  onRemove: () => void;
}

function TypedRange({ label, number, draft, isWrong, onChange, onRemove }: TypedRangeProps) {
  return (
    <div class="range">
      <RangeEnd
        label={`${label}: range ${number} from`}
        placeholder="from"
        value={draft.from}
        isWrong={isWrong}
        onInput={(from) => onChange({ ...draft, from })}
      />
      <span aria-hidden="true">–</span>
      <RangeEnd
        label={`${label}: range ${number} to`}
        placeholder="no end"
        value={draft.to}
        isWrong={isWrong}
        onInput={(to) => onChange({ ...draft, to })}
      />
      <button
        type="button"
        class="icon-button"
        aria-label={`${label}: remove range ${number}`}
        onClick={onRemove}
      >
        <Icon name="close" />
      </button>
    </div>
  );
}

interface RangeEndProps {
  label: string;
  placeholder: string;
  value: string;
  isWrong: boolean;
  onInput: (value: string) => void;
}

function RangeEnd({ label, placeholder, value, isWrong, onInput }: RangeEndProps) {
  return (
    <input
      type="text"
      inputMode="numeric"
      autocomplete="off"
      aria-label={label}
      aria-invalid={isWrong}
      placeholder={placeholder}
      value={value}
      onInput={(event) => {
        event.currentTarget.value = event.currentTarget.value.replace(/\D/g, '');
        onInput(event.currentTarget.value);
      }}
    />
  );
}

/** A range in words: `10 – 49`, `1,000 and more`. */
export function rangeLabel(range: string): string {
  const { from, to } = readRange(range.replaceAll(',', ''));
  if (to === '') return `${formatNumber(Number(from))} and more`;
  if (from === to) return formatNumber(Number(from));
  if (from === '0') return `up to ${formatNumber(Number(to))}`;
  return `${formatNumber(Number(from))} – ${formatNumber(Number(to))}`;
}
