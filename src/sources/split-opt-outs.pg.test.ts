/**
 * Opt-outs of a person whose records are split by hand: who opted out stays hidden, and the other one only if it is not known who
 * did.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { filesOf, noRejects, sourceInput } from '../../tests/support/source-input.ts';
import { importSource } from '../core/graph/sources/import-source.ts';
import { splitRecords, undoSplit } from '../core/graph/sources/split.ts';
import { must } from '../core/lib/assert.ts';
import { suppress, suppressPeople } from '../core/suppression/suppress.ts';

const shared = 'cy@shared.example';
const phones = { crm: '+442079460001', partners: '+442079460002' };
const former = '+442079460003';
type Source = keyof typeof phones;

let pipeline: Pipeline;
let by: Caller;
beforeEach(async () => {
  pipeline = await openPipeline();
  by = await pipeline.account(1000);
});
afterEach(() => pipeline.close());

async function load(source: Source, asOf: string, values: { email?: string; phone?: string } = {}) {
  const given = { email: shared, phone: phones[source], ...values };
  const record = { name: 'Cy', surname: 'Finch', ...given };
  const rows = filesOf([{ entity: 'person', key: 'cy', record }]);
  await importSource(pipeline.sql, sourceInput({ source, asOf, rows }), { rejects: noRejects() });
}

/** The status of a call for the person of the CRM, and for that of the partners. */
const statuses = () =>
  Promise.all(
    Object.values(phones).map(async (phone) => {
      const path = `/v1/people/enrich?phone=${encodeURIComponent(phone)}`;
      return (await pipeline.call(by, path)).status;
    }),
  );

async function recordOf(source: Source): Promise<{ number: number; id: number }> {
  const [row] = await pipeline.sql<{ number: number; id: number }[]>`
    select number, id from source_records where source = ${source}`;
  return must(row, source);
}

describe.each<[Source, Source]>([
  ['crm', 'partners'],
  ['partners', 'crm'],
])('two people whom an import joined wrongly, first %s, then %s,', (first, second) => {
  describe.each([
    ['at once', false],
    ['once both were stored', true],
  ])('%s', (_when, isLater) => {
    const joinAll = async () => {
      for (const source of [first, second]) {
        const phone = source === 'crm' ? former : phones.partners;
        const email = `${source}@home.example`;
        if (isLater) await load(source, '2026-01-01', { phone, email });
        else await load(source, '2026-01-01', { phone });
      }
      for (const source of [first, second]) {
        await load(source, '2026-01-02', source === 'crm' ? { phone: former } : {});
      }
    };

    it.each<[string, Source, () => Promise<unknown>, () => Promise<unknown>, number[]]>([
      [
        'by a former phone',
        first,
        () => suppress(pipeline.sql, former),
        async () => {},
        [404, 200],
      ],
      [
        'by a present phone',
        second,
        async () => {},
        () => suppress(pipeline.sql, phones.crm),
        [404, 200],
      ],
      [
        'by id',
        second,
        async () => {},
        async () => suppressPeople(pipeline.sql, [(await recordOf('crm')).id], []),
        [404, 404],
      ],
      [
        'by the address of both',
        first,
        () => suppress(pipeline.sql, shared),
        async () => {},
        [404, 404],
      ],
    ])(
      'and the first opts out %s, are so when %s is split out',
      async (_by, taken, early, late, expected) => {
        await joinAll();
        await early();
        await load('crm', '2026-01-03');
        await late();
        expect(await statuses()).toEqual([404, 404]);
        const { number, id } = await recordOf(taken);
        const { split } = await splitRecords(pipeline.sql, 'person', id, [number]);
        expect(await statuses()).toEqual(expected);
        for (const source of [first, second]) {
          await load(source, '2026-01-04', { email: `${source}@later.example` });
        }
        expect(await statuses()).toEqual(expected);
        for (const source of [first, second]) await load(source, '2026-01-05');
        expect(await statuses()).toEqual([404, expected[1]]);
        await undoSplit(pipeline.sql, split);
        expect(await statuses()).toEqual([404, 404]);
      },
    );
  });
});

describe.each([
  ['before', false],
  ['after', true],
])(
  'one who opted out by id before an import joined them with one who did by phone %s it',
  (_when, isLater) => {
    it.each<Source>(['crm', 'partners'])('stays so when %s is split out', async (taken) => {
      for (const source of ['crm', 'partners'] as const) {
        await load(source, '2026-01-01', { email: `${source}@home.example` });
      }
      await suppressPeople(pipeline.sql, [(await recordOf('crm')).id], []);
      if (!isLater) await suppress(pipeline.sql, phones.partners);
      for (const source of ['crm', 'partners'] as const) await load(source, '2026-01-02');
      if (isLater) await suppress(pipeline.sql, phones.partners);
      const { number, id } = await recordOf(taken);
      await splitRecords(pipeline.sql, 'person', id, [number]);
      expect(await statuses()).toEqual([404, 404]);
    });
  },
);
