import { useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { Checkboxes } from '../components/checkboxes.tsx';
import { errorOf, FieldNotes, restOf, TextField } from '../components/field.tsx';
import { Form } from '../components/form.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { toNumber } from '../field-words.ts';
import type { Action } from '../use-call.ts';
import { allEvents, eventGroups, eventWord } from './webhook-words.ts';

/** The settings of a webhook, as the API takes them. */
export interface WebhookBody {
  url: string;
  events: string[];
  credits_low_threshold: number | string;
}

interface WebhookFormProps {
  initial?: { url: string; events: string[]; credits_low_threshold: number };
  /** The button, in a verb. */
  label: string;
  action: Action<WebhookBody>;
  onClose: () => void;
}

/** Address and events of a webhook. */
export function WebhookForm({ initial, label, action, onClose }: WebhookFormProps) {
  const [url, setUrl] = useState(initial?.url ?? '');
  const [events, setEvents] = useState(initial?.events ?? [...allEvents]);
  const [low, setLow] = useState(String(initial?.credits_low_threshold ?? 100));
  const { problem } = action;
  const isUnheard = errorOf(problem, 'events') !== undefined;
  return (
    <Form
      problem={problem}
      onSubmit={() => {
        // What is no number is sent as it is: the answer says what is wrong with it.
        action.run({ url: url.trim(), events, credits_low_threshold: toNumber(low) });
      }}
    >
      <TextField
        id="url"
        label="URL"
        value={url}
        onInput={setUrl}
        placeholder="https://example.com/hooks/enrichment"
        hint="HTTPS, and reachable from the internet."
        error={errorOf(problem, 'url')}
      />
      {eventGroups.map((group) => (
        <fieldset key={group.label}>
          <legend>{group.label}</legend>
          <Checkboxes
            choices={group.events.map((value) => ({ value, label: eventWord(value) }))}
            chosen={events}
            onChange={setEvents}
            isAcross
            errorId={isUnheard ? 'events-error' : undefined}
          />
        </fieldset>
      ))}
      <FieldNotes
        id="events"
        hint={null}
        error={isUnheard ? 'Choose at least one event.' : undefined}
      />
      <TextField
        id="credits_low_threshold"
        label="Low-credit alert threshold"
        type="number"
        value={low}
        onInput={setLow}
        error={errorOf(problem, 'credits_low_threshold')}
      />
      <ProblemNotice problem={restOf(problem, ['url', 'events', 'credits_low_threshold'])} />
      <div class="dialog-buttons">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="primary" type="submit" isBusy={action.isBusy}>
          {label}
        </Button>
      </div>
    </Form>
  );
}
