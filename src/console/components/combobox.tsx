import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { countOf, formatNumber } from '../format.ts';
import type { Problem } from '../problem.ts';
import { readOut } from './announcer.tsx';
import { describedBy, FieldNotes } from './field.tsx';
import { Icon } from './icon.tsx';

/** A value that can be chosen. */
export interface Option {
  value: string;
  label: string;
  /** Text at the end of its line. */
  note?: string;
}

/** The options for a text. */
export interface Suggestions {
  options: readonly Option[];
  /** False while the options are those of an older text. */
  isSettled: boolean;
  problem: Problem | null;
}

interface ComboboxProps {
  id: string;
  label: string;
  hint?: ComponentChildren;
  error?: string | undefined;
  placeholder?: string;
  chosen: readonly Option[];
  onChange: (values: string[]) => void;
  /** Absent for a field without suggestions. */
  suggestions?: Suggestions;
  /** Called with the text that is typed while the suggestions are open; null when they are not. */
  onText?: (text: string | null) => void;
  /** Makes values of what was typed; absent where one of the suggestions must be chosen. */
  toValues?: (typed: string) => string[];
}

/** More than a user chooses. A link may bring tens of thousands, which a browser would take minutes to render. */
export const VALUES_SHOWN_MAX = 200;

/**
 * A field for several values, with suggestions or without: the combobox of the ARIA patterns. The chosen
 * ones stand before the text; Backspace takes back the last.
 */
export function Combobox(props: ComboboxProps) {
  const { id, label, hint, chosen, suggestions, toValues } = props;
  const typing = useTyping(props);
  const { isOpen, active } = typing;
  const error =
    props.error ??
    (typing.isLeft ? 'Pick a suggestion from the list or clear this field.' : undefined);
  return (
    <div class="field combobox">
      <label for={id}>{label}</label>
      <div class="chips">
        {chosen.slice(0, VALUES_SHOWN_MAX).map((option) => (
          <Chip key={option.value} option={option} onRemove={typing.remove} />
        ))}
        {chosen.length > VALUES_SHOWN_MAX && (
          <span class="soft">and {formatNumber(chosen.length - VALUES_SHOWN_MAX)} more</span>
        )}
        <input
          ref={typing.input}
          id={id}
          name={id}
          type="text"
          autocomplete="off"
          spellcheck={false}
          placeholder={chosen.length === 0 ? props.placeholder : undefined}
          value={typing.text}
          aria-describedby={describedBy({ id, hint, error })}
          aria-invalid={error !== undefined}
          {...(suggestions === undefined
            ? {}
            : {
                role: 'combobox',
                'aria-autocomplete': 'list',
                'aria-expanded': isOpen && suggestions.options.length > 0,
                'aria-controls': `${id}-list`,
                'aria-activedescendant': active === -1 ? undefined : `${id}-option-${active}`,
              })}
          onInput={(event) => typing.show(event.currentTarget.value, true)}
          onClick={() => !isOpen && typing.show(typing.text, true)}
          onKeyDown={typing.onKeyDown}
          onBlur={typing.onBlur}
        />
      </div>
      {suggestions !== undefined && (
        <ListBox
          id={id}
          label={label}
          isOpen={isOpen}
          suggestions={suggestions}
          active={active}
          chosen={typing.values}
          isFree={toValues !== undefined}
          onChoose={typing.toggle}
        />
      )}
      <FieldNotes id={id} hint={hint} error={error} />
    </div>
  );
}

/** The text of a combobox, the suggestion that the arrows are at, and what keys and clicks do. */
function useTyping({ chosen, onChange, suggestions, onText, toValues }: ComboboxProps) {
  const [text, setText] = useState('');
  const [isOpen, setIsOpen] = useState(false);
  const [activeValue, setActiveValue] = useState<string | null>(null);
  const [isLeft, setIsLeft] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const options = isOpen ? (suggestions?.options ?? []) : [];
  // By its value: the suggestions of the text may arrive when the arrows are among those of an older one.
  const active = options.findIndex(({ value }) => value === activeValue);
  const values = chosen.map(({ value }) => value);

  const show = (nextText: string, open: boolean) => {
    setText(nextText);
    setActiveValue(null);
    setIsLeft(false);
    if (suggestions === undefined) return;
    setIsOpen(open);
    onText?.(open ? nextText : null);
  };
  const add = (added: readonly string[], name: string) => {
    show('', false);
    const fresh = added.filter((value) => value !== '' && !values.includes(value));
    if (fresh.length === 0) return;
    onChange([...new Set([...values, ...fresh])]);
    readOut(`${name} added`);
  };
  const remove = ({ value, label: name }: Option) => {
    onChange(values.filter((one) => one !== value));
    readOut(`${name} removed`);
    input.current?.focus();
  };
  const toggle = (option: Option) => {
    if (!values.includes(option.value)) return add([option.value], option.label);
    show('', false);
    remove(option);
  };
  const addTyped = () => {
    if (toValues !== undefined) add(toValues(text), text.trim());
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const option = options[active];
    // A word of a script with many signs is still being put together.
    if (event.isComposing) return;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      if (suggestions === undefined) return;
      event.preventDefault();
      const next = neighbour(active, options.length, event.key === 'ArrowDown' ? 1 : -1);
      if (isOpen) setActiveValue(options[next]?.value ?? null);
      else show(text, true);
    } else if (event.key === 'Enter' && (option !== undefined || text.trim() !== '')) {
      event.preventDefault();
      if (option !== undefined) toggle(option);
      else addTyped();
    } else if (event.key === 'Escape' && isOpen) {
      event.preventDefault();
      show(text, false);
    } else if (event.key === 'Backspace' && text === '') {
      const last = chosen.at(-1);
      if (last !== undefined) remove(last);
    }
  };
  const onBlur = () => {
    if (toValues !== undefined && text.trim() !== '') addTyped();
    else {
      show(text, false);
      setIsLeft(text.trim() !== '');
    }
  };
  return { text, isOpen, active, isLeft, input, values, show, toggle, remove, onKeyDown, onBlur };
}

/** The place before or after one of `count`, cyclic. */
function neighbour(place: number, count: number, step: 1 | -1): number {
  if (count === 0) return -1;
  if (place === -1) return step === 1 ? 0 : count - 1;
  return (place + step + count) % count;
}

function Chip({ option, onRemove }: { option: Option; onRemove: (option: Option) => void }) {
  return (
    <span class="chip">
      <span class="chip-text">{option.label}</span>
      <button type="button" aria-label={`Remove ${option.label}`} onClick={() => onRemove(option)}>
        <Icon name="close" />
      </button>
    </span>
  );
}

interface ListBoxProps {
  id: string;
  label: string;
  isOpen: boolean;
  suggestions: Suggestions;
  active: number;
  chosen: readonly string[];
  isFree: boolean;
  onChoose: (option: Option) => void;
}

function ListBox({
  id,
  label,
  isOpen,
  suggestions,
  active,
  chosen,
  isFree,
  onChoose,
}: ListBoxProps) {
  const { options, isSettled, problem } = suggestions;
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('.active')?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  const count = options.length;
  const state = !isSettled
    ? 'Looking …'
    : problem !== null
      ? problem.message
      : count > 0
        ? null
        : isFree
          ? 'No results. Press Enter to use it as typed.'
          : 'No results';
  return (
    <div class="suggestions" hidden={!isOpen}>
      <div
        ref={list}
        id={`${id}-list`}
        role="listbox"
        aria-label={label}
        aria-multiselectable="true"
        hidden={count === 0}
      >
        {isOpen &&
          options.map((option, place) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the input.
            <div
              key={option.value}
              id={`${id}-option-${place}`}
              role="option"
              tabIndex={-1}
              aria-selected={chosen.includes(option.value)}
              class={place === active ? 'option active' : 'option'}
              // The input keeps the focus.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => onChoose(option)}
            >
              <span>{option.label}</span>
              {chosen.includes(option.value) ? (
                <Icon name="check" />
              ) : (
                <span class="soft number">{option.note}</span>
              )}
            </div>
          ))}
      </div>
      <p class={state === null ? 'unseen' : 'suggestions-state'} role="status">
        {isOpen && (state ?? countOf(count, 'suggestion'))}
      </p>
    </div>
  );
}
