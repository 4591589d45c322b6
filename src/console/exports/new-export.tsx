import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { Button } from '../components/button.tsx';
import { restOf } from '../components/field.tsx';
import { Form } from '../components/form.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { countOf, formatNumber, totalOf } from '../format.ts';
import { PERSON_PRICE } from '../priced-operations.ts';
import { goTo } from '../router.ts';
import type { Preview } from '../search/preview-panel.tsx';
import { today, useSearchName } from '../search/search-name.ts';
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
  /** Undefined while it is not known, and for a filter that is not counted. */
  preview: Preview | undefined;
}

/** Makes an export of a filter. */
export function NewExport({ filter, preview }: NewExportProps) {
  const [chosen, setOptions] = useState<FileOptions>({ ...usualOptions, name: '' });
  const search = useSearchName(filter);
  // Named by what it holds until another name is typed.
  const options = chosen.name === '' ? { ...chosen, name: `${search} · ${today()}` } : chosen;
  const [isHeld, setIsHeld] = useState(true);
  const making = useAction(async () => {
    const body = { filter, ...toRequest(options), hold: isHeld };
    const wanted = JSON.stringify([filter, chosen, isHeld]);
    const { id } = await call<ExportFile>('POST', '/v1/exports', { body, wanted });
    goTo(`/exports/${id}`);
  });
  const isLive = session.get()?.key.mode === 'live';
  const most = Math.min(
    (options.maxResults ?? Number.POSITIVE_INFINITY) * PERSON_PRICE,
    options.maxCredits ?? Number.POSITIVE_INFINITY,
  );
  const price = isLive ? priceOf(preview, most) : '';
  return (
    <Form class="card" problem={making.problem} onSubmit={() => making.run()}>
      {preview !== undefined && preview.owned > 0 && (
        <p class="notice">
          You already have {formatNumber(preview.owned)} of these. They are in the file and not
          charged again.
        </p>
      )}
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
          {isHeld ? 'Continue' : `Export${price}`}
        </Button>
      </div>
    </Form>
  );
}

/** `most` is in credits. */
function priceOf(preview: Preview | undefined, most: number): string {
  if (preview !== undefined && preview.estimated_credits <= most) {
    const { estimated_credits: total, total_is } = preview;
    return ` for ${totalOf({ total, total_is }, 'credit')}`;
  }
  return Number.isFinite(most) ? ` for up to ${countOf(most, 'credit')}` : '';
}
