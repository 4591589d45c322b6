/**
 * Companies House, accounts (product 223): daily and monthly zips of inline XBRL documents, those of community
 * interest companies in zips of their own. A later filing for the same period replaces an earlier one.
 */
import type { SourceRecord, SourceRow } from '../../core/graph/sources/source-record.ts';
import type { Adapter } from '../adapter.ts';
import { type Fact, readFacts } from '../ixbrl.ts';
import type { SourcePart } from '../source-files.ts';
import { britishCompany } from '../values.ts';

/** `Prod223_4100_02776038_20240831.html`, also as the zip that contains the document. */
const DOCUMENT_NAME = /Prod\d+_\d+_([A-Z0-9]{8})_(\d{8})/;
const DOCUMENT_BYTES_MAX = 64 * 1024 * 1024;

/** The fields of a period by the local names of the tags; the first that has a figure counts. */
const fields: ReadonlyMap<string, string> = new Map([
  ['NetAssetsLiabilities', 'netAssets'],
  ['CashBankOnHand', 'cash'],
  ['CashBankInHand', 'cash'],
  ['AverageNumberEmployeesDuringPeriod', 'employees'],
  ['TurnoverRevenue', 'revenue'],
  ['GrossProfitLoss', 'grossProfit'],
  ['OperatingProfitLoss', 'operatingProfit'],
  ['ProfitLoss', 'profit'],
]);

export const gbAccounts: Adapter = {
  name: 'gb-accounts',
  recognise: ({ name }) =>
    DOCUMENT_NAME.test(name) ? { snapshotOf: null, read: readParts } : null,
};

async function* readParts(parts: AsyncIterable<SourcePart>): AsyncGenerator<SourceRow[]> {
  let line = 0;
  for await (const { name, bytes } of parts) {
    line += 1;
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of bytes) {
      size += chunk.length;
      if (size <= DOCUMENT_BYTES_MAX) chunks.push(chunk);
    }
    const row =
      size > DOCUMENT_BYTES_MAX
        ? { reason: 'too_long', source: { document: name } }
        : readDocument(name, Buffer.concat(chunks).toString('utf8'));
    yield [{ line, ...row } as SourceRow];
  }
}

type Outcome = SourceRow extends infer Row ? Omit<Row, 'line'> : never;

function readDocument(name: string, text: string): Outcome {
  const reject = (reason: string): Outcome => ({ reason, source: { document: name } });
  const number = DOCUMENT_NAME.exec(name)?.[1];
  if (number === undefined) return reject('names_no_company');
  if (!/<html[\s>]/i.test(text.slice(0, 4096))) return reject('not_inline_xbrl');
  const facts = readFacts(text);
  if (facts === null) return reject('cut_off');
  const company = britishCompany(number);
  if (company.length === 0) return reject('not_a_registry_number');
  const [first, ...others] = periodsOf(facts).map(
    (record): SourceRecord => ({
      entity: 'financial',
      key: `${number}/${record.periodEnd}`,
      company,
      record,
    }),
  );
  return first === undefined ? reject('no_figures') : { records: [first, ...others] };
}

/** The periods of a document, the latest first: its own and the comparative one. */
function periodsOf(facts: readonly Fact[]): { periodEnd: string; [field: string]: unknown }[] {
  const periods = new Map<string, { periodEnd: string; [field: string]: unknown }>();
  for (const { name, periodEnd, currency, value } of facts) {
    const field = fields.get(name);
    if (field === undefined) continue;
    const period = periods.get(periodEnd) ?? { periodEnd };
    periods.set(periodEnd, period);
    if (period[field] === undefined) period[field] = Math.round(value) + 0;
    if (currency !== null && field !== 'employees') period.currency ??= currency;
  }
  return [...periods.values()].sort((a, b) => (a.periodEnd < b.periodEnd ? 1 : -1));
}
