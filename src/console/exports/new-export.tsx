import { useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { restOf } from '../components/field.tsx';
import { Form } from '../components/form.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { countOf, formatNumber, mostOf, totalOf } from '../format.ts';
import { PERSON_PRICE } from '../priced-operations.ts';
import type { Preview } from '../search/preview-panel.tsx';
import { today, useSearchName } from '../search/search-name.ts';
import { session } from '../session.ts';
import { useAction } from '../use-call.ts';
import { createExport } from './create-export.ts';
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
  /** False for a filter by what identifies people. */
  isCounted: boolean;
}

/** Makes an export of a filter. */
export function NewExport({ filter, preview, isCounted }: NewExportProps) {
  const [chosen, setOptions] = useState<FileOptions>({ ...usualOptions, name: '' });
  const search = useSearchName(filter);
  // Named by what it holds until another name is typed.
  const options = chosen.name === '' ? { ...chosen, name: `${search} · ${today()}` } : chosen;
  const [isHeld, setIsHeld] = useState(true);
  const isLive = session.get()?.key.mode === 'live';
  const limit = Math.min(
    (options.maxResults ?? Number.POSITIVE_INFINITY) * PERSON_PRICE,
    options.maxCredits ?? Number.POSITIVE_INFINITY,
  );
  const price = isLive && !isHeld ? priceOf(preview, limit) : null;
  const making = useAction(async () => {
    const body = {
      ...{ filter, ...toRequest(options), hold: isHeld },
      // The price is a promise, also when more people match by now.
      ...(price === null ? {} : { max_credits: price.most }),
    };
    await createExport(body, JSON.stringify([filter, chosen, isHeld]));
  });
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
        <Button
          kind="primary"
          type="submit"
          icon="download"
          isBusy={making.isBusy}
          isDisabled={isLive && !isHeld && price === null && isCounted}
        >
          {isHeld ? 'Continue' : price === null ? 'Export' : `Export for ${price.said}`}
        </Button>
      </div>
    </Form>
  );
}

/** The price in words, and the most that it stands for; null while neither it nor a `limit`, in credits, is known. */
function priceOf(
  preview: Preview | undefined,
  limit: number,
): { said: string; most: number } | null {
  if (preview === undefined || preview.estimated_credits > limit) {
    return Number.isFinite(limit)
      ? { said: `up to ${countOf(limit, 'credit')}`, most: limit }
      : null;
  }
  const { estimated_credits: total, total_is, owned } = preview;
  // No limit is below one person.
  const most = Math.max(1, mostOf(preview) - owned) * PERSON_PRICE;
  return { said: totalOf({ total, total_is }, 'credit'), most: Math.min(limit, most) };
}
