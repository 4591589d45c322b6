import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { Button } from '../components/button.tsx';
import { restOf } from '../components/field.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { countOf, type DisclosedTotal, priceOfPeople } from '../format.ts';
import { PERSON_PRICE } from '../priced-operations.ts';
import { goTo } from '../router.ts';
import { session } from '../session.ts';
import { useAction } from '../use-call.ts';
import type { ExportFile } from './export-file.ts';
import {
  type FileOptions,
  FileOptionsForm,
  optionFields,
  toRequest,
  usualOptions,
} from './file-options.tsx';

interface NewExportProps {
  filter: string;
  /** People that the filter finds; undefined while it is not known. */
  total: DisclosedTotal | undefined;
}

/** Makes an export of a filter. */
export function NewExport({ filter, total }: NewExportProps) {
  const [options, setOptions] = useState<FileOptions>({ ...usualOptions, name: 'People' });
  const [isHeld, setIsHeld] = useState(true);
  const making = useAction(async () => {
    const body = { filter, ...toRequest(options), hold: isHeld };
    const { id } = await call<ExportFile>('POST', '/v1/exports', { body });
    goTo(`/exports/${id}`);
  });
  const isLive = session.get()?.key.mode === 'live';
  const most = Math.min(
    (options.maxResults ?? Number.POSITIVE_INFINITY) * PERSON_PRICE,
    options.maxCredits ?? Number.POSITIVE_INFINITY,
  );
  const price = isLive ? priceOf(total, most) : '';
  return (
    <form
      class="card"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        making.run();
      }}
    >
      <FileOptionsForm options={options} onChange={setOptions} problem={making.problem} />
      <div class="checks">
        <label>
          <input
            type="checkbox"
            checked={isHeld}
            onChange={(event) => setIsHeld(event.currentTarget.checked)}
          />
          Show me the price before it starts
        </label>
      </div>
      <ProblemNotice problem={restOf(making.problem, optionFields)} />
      <div class="buttons">
        <Button kind="primary" type="submit" icon="download" isBusy={making.isBusy}>
          {isHeld ? 'Prepare the export' : `Export${price}`}
        </Button>
      </div>
    </form>
  );
}

/** `most` is in credits. */
function priceOf(total: DisclosedTotal | undefined, most: number): string {
  if (total !== undefined && total.total * PERSON_PRICE <= most) {
    return ` for ${priceOfPeople(total)}`;
  }
  return Number.isFinite(most) ? ` for up to ${countOf(most, 'credit')}` : '';
}
