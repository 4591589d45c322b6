import { useState } from 'preact/hooks';
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
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <fieldset class="field ranges" aria-describedby={described === '' ? undefined : described}>
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
      {drafts.map((draft, place) => (
        <div class="range" key={place}>
          <RangeEnd
            label={`${label}: range ${place + 1} from`}
            placeholder="from"
            value={draft.from}
            isWrong={error !== undefined}
            onInput={(from) => change(drafts.with(place, { ...draft, from }))}
          />
          <span aria-hidden="true">–</span>
          <RangeEnd
            label={`${label}: range ${place + 1} to`}
            placeholder="no end"
            value={draft.to}
            isWrong={error !== undefined}
            onInput={(to) => change(drafts.with(place, { ...draft, to }))}
          />
          <button
            type="button"
            class="icon-button"
            aria-label={`${label}: remove range ${place + 1}`}
            onClick={() => change(drafts.toSpliced(place, 1))}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error && (
        <p class="error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </fieldset>
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
