/** The files of an import: source, day, mapping, and the first records. */
import { useRef, useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { Fact } from '../components/fact.tsx';
import { errorOf, SelectField, TextField } from '../components/field.tsx';
import { Loading } from '../components/loading.tsx';
import type { Changes } from '../use-changes.ts';
import {
  type Found,
  type ImportRun,
  type Mapping,
  type RunChange,
  sourceLabel,
  sourceLabels,
} from './import-run.ts';
import { MappingForm } from './mapping-form.tsx';
import { PreviewTable } from './preview-table.tsx';
import { SendingNotice } from './sending-notice.tsx';
import type { SendingFiles } from './use-sending-files.ts';

interface ReviewRunProps {
  run: ImportRun;
  changes: Changes<RunChange>;
  /** The upload of further parts. */
  files: SendingFiles;
}

/** The findings and the choices; empty for a file that cannot be read, whatever its source. */
export function ReviewRun({ run, changes, files }: ReviewRunProps) {
  const { found, options } = run;
  const { change: onChange, problem: error } = changes;
  const isChosen = options.source !== null || options.mapping !== null || options.as_of !== null;
  if (run.state === 'ready' && found === null && !isChosen && error === null) return null;
  const isReading = run.state === 'examining';
  // The findings are those of the mapping before until the file is read again.
  const chosen =
    (changes.pending.mapping as Mapping | null | undefined) ?? (isReading ? options.mapping : null);
  return (
    <>
      <section class="card stack" aria-label="File" aria-busy={isReading || !changes.isSaved}>
        <h2>What it is</h2>
        {found === null && isReading && <Loading />}
        {found !== null && (
          <dl class="facts">
            <Fact name="Source">{sourceLabel(found.source)}</Fact>
            <Fact name="Data of">{found.as_of}</Fact>
            <Fact name="Contains">
              {found.snapshot
                ? 'everything: records missing from the file are removed'
                : 'changes: records missing from the file stay'}
            </Fact>
          </dl>
        )}
        <Options run={run} changes={changes} />
        <MoreFiles run={run} files={files} />
      </section>
      {found?.mapping && (
        <section class="card" aria-label="Columns">
          <h2>Columns</h2>
          <p class="hint">{origins[found.mapping_origin ?? 'given'](found.mapping.name)}</p>
          {found.fitting && (
            <KeptMappings found={found} fitting={found.fitting} onChange={onChange} />
          )}
          <MappingForm
            key={found.mapping.name}
            found={found}
            mapping={chosen ?? found.mapping}
            error={errorOf(error, 'mapping')}
            onChange={(mapping) => onChange({ source: null, mapping })}
          />
        </section>
      )}
      {found !== null && (
        <section class="card" aria-label="Records">
          <h2>First records</h2>
          <PreviewTable preview={found.preview} />
          {contactSources.has(found.source) && found.preview.some(isContact) && (
            <p class="hint">
              Contacts find their company by its id or domain. Import the companies of this CRM too,
              before or after: this file adds none.
            </p>
          )}
        </section>
      )}
    </>
  );
}

const origins = {
  guessed: () => 'Detected from the column names and cells. Check this.',
  kept: (name: string) =>
    `Read by the kept mapping “${name}”, as an update of its source. Is it a file of another source? Give it another name.`,
  several: () => 'Several kept mappings have these columns. Choose the one of this file’s source.',
  given: () => 'As you chose.',
  replacing: (name: string) =>
    `“${name}” is kept with other columns. The import replaces them, and updates its source. Is it a file of another source? Give it another name.`,
} as const;

interface KeptMappingsProps {
  found: Found;
  fitting: NonNullable<Found['fitting']>;
  onChange: (change: RunChange) => void;
}

/** The choice between the kept mappings that have the columns of the file; none is chosen for the operator. */
function KeptMappings({ found, fitting, onChange }: KeptMappingsProps) {
  const isChosen =
    found.mapping_origin !== 'several' && fitting.some(({ name }) => name === found.source);
  return (
    <SelectField
      id="kept-mapping"
      label="Kept mapping"
      value={isChosen ? found.source : ''}
      onChange={(chosen) => {
        const mapping = fitting.find(({ name }) => name === chosen);
        if (mapping !== undefined) onChange({ source: null, mapping });
      }}
      options={[
        { value: '', label: found.mapping_origin === 'several' ? 'Choose a mapping' : 'None' },
        ...fitting.map(({ name, of }) => ({
          value: name,
          label: `${name} (${of === 'persons' ? 'people' : 'companies'})`,
        })),
      ]}
    />
  );
}

/** Sources that have a file of companies beside the one of contacts. */
const contactSources: ReadonlySet<string> = new Set(['hubspot', 'salesforce', 'pipedrive']);

const isContact = ({ entity }: Found['preview'][number]) => entity === 'person';

const AUTO = 'auto';

function Options({ run, changes }: Pick<ReviewRunProps, 'run' | 'changes'>) {
  const { pending, change: onChange, problem: error } = changes;
  const { source, as_of } = { ...run.options, ...pending };
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <details class="more-options">
      <summary>Change source or day</summary>
      <div class="fields">
        <SelectField
          id="source"
          label="Source"
          value={source ?? AUTO}
          onChange={(source) => onChange({ source: source as 'auto', mapping: null })}
          options={[
            { value: AUTO, label: 'Detect automatically' },
            ...Object.entries(sourceLabels).map(([value, label]) => ({ value, label })),
          ]}
          error={errorOf(error, 'source')}
        />
        <TextField
          id="as-of"
          label="Day of the data"
          type="date"
          value={typed ?? as_of ?? run.found?.as_of ?? ''}
          onInput={setTyped}
          onLeave={() => {
            onChange({ as_of: typed === '' ? null : typed });
            setTyped(null);
          }}
          error={errorOf(error, 'as_of')}
        />
      </div>
    </details>
  );
}

/** Adds parts of the same dataset: a register in seven files is one import. */
function MoreFiles({ run, files }: Pick<ReviewRunProps, 'run' | 'files'>) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      {run.files.length > 1 && (
        <ul class="plain">
          {run.files.map(({ name }) => (
            <li key={name} class="soft">
              {name}
            </li>
          ))}
        </ul>
      )}
      <div>
        <Button kind="quiet" icon="plus" onClick={() => input.current?.click()}>
          Add another part
        </Button>
        <input
          ref={input}
          class="unseen"
          type="file"
          multiple
          tabIndex={-1}
          aria-label="Another part"
          onChange={(event) => {
            const chosen = [...(event.currentTarget.files ?? [])];
            event.currentTarget.value = '';
            if (chosen.length > 0) files.send(chosen);
          }}
        />
      </div>
      <SendingNotice {...files} />
    </>
  );
}
