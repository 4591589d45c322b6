import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { Button } from '../components/button.tsx';
import { errorOf, NumberField, restOf } from '../components/field.tsx';
import { Form } from '../components/form.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { formatNumber } from '../format.ts';
import { useAction } from '../use-call.ts';
import type { Progress, Resource } from './batch.ts';
import type { Live } from './use-live-batch.ts';

interface RaiseLimitProps<Item extends Progress> {
  item: Item;
  of: Resource;
  live: Live<Item>;
}

/** Continues a list that has used up its own limit of credits, with a higher one. */
export function RaiseLimit<Item extends Progress>({ item, of, live }: RaiseLimitProps<Item>) {
  const [limit, setLimit] = useState<number | null>(null);
  const raising = useAction(async () =>
    live.show(await call('PATCH', `${of.path}/${item.id}`, { body: { max_credits: limit } })),
  );
  const used = item.credits.max ?? 0;
  const isEmpty = limit === null;
  return (
    <Form class="raise-limit" problem={raising.problem} onSubmit={() => raising.run()}>
      <NumberField
        id="limit"
        label="New limit in credits"
        value={limit}
        onChange={setLimit}
        placeholder="no limit"
        hint={`${formatNumber(item.credits.charged)} of ${formatNumber(used)} are spent. The new limit includes them.`}
        error={errorOf(raising.problem, 'max_credits')}
      />
      <Button
        kind="primary"
        type="submit"
        isBusy={raising.isBusy}
        isDisabled={limit !== null && limit <= used}
      >
        {isEmpty ? 'Continue without a limit' : 'Raise the limit and continue'}
      </Button>
      <ProblemNotice problem={restOf(raising.problem, ['max_credits'])} />
    </Form>
  );
}
