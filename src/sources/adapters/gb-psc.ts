/**
 * Companies House, people with significant control (`persons-with-significant-control-snapshot-2026-10-02.zip` or
 * its 32 parts): one JSON object a line, daily.
 */
import { Readable } from 'node:stream';
import { type JsonRecord, readRecords } from '../../core/graph/import/read-records.ts';
import type { SourceRecord, SourceRow } from '../../core/graph/sources/source-record.ts';
import { fold } from '../../core/lib/fold.ts';
import type { Adapter } from '../adapter.ts';
import type { SourcePart } from '../source-files.ts';
import { britishCompany, compact, isoDate, joinedBy, textOf } from '../values.ts';

const ROLE = 'person with significant control';
/** The register began on 6 April 2016; files have days from 1083 to 9999. */
const FIRST_YEAR = 2016;
const INDIVIDUAL = /^individual-/;
const OFFICER_KINDS =
  /^(?:individual|corporate-entity|legal-person)-(?:person-with-significant-control|beneficial-owner)$/;
const STATEMENT_KINDS = /^(?:persons-with-significant-control-statement|exemptions)$/;

export const gbPsc: Adapter = {
  name: 'gb-psc',
  recognise: ({ text }) =>
    /^\s*\{"(?:company_number":"[^"]*",")?data":\{/.test(text) &&
    /significant-control|"exemptions"|beneficial-owner/.test(text)
      ? { snapshotOf: [''], read: readParts }
      : null,
};

async function* readParts(parts: AsyncIterable<SourcePart>): AsyncGenerator<SourceRow[]> {
  for await (const { bytes } of parts) {
    for await (const items of readRecords(Readable.from(bytes, { objectMode: false }), 'jsonl')) {
      yield items.flatMap((item) => {
        const { line } = item;
        if ('reason' in item) {
          const source = Buffer.from(item.source).toString('utf8');
          return [{ line, reason: item.reason, source }];
        }
        const row = readLine(item.record);
        return row === null ? [] : [{ line, ...row } as SourceRow];
      });
    }
  }
}

type Outcome = SourceRow extends infer Row ? Omit<Row, 'line'> : never;

/** Returns null for the trailer, which describes the file and no person. */
function readLine(record: JsonRecord): Outcome | null {
  const data = objectOf(record.data);
  const kind = text(data.kind) ?? '';
  if (kind.startsWith('totals#')) return null;
  const self = text(objectOf(data.links).self);
  const reject = (reason: string): Outcome => ({ reason, source: record });
  if (kind.startsWith('super-secure-')) {
    return { optedOut: [], keys: self === undefined ? [] : [['officer', self]] };
  }
  if (STATEMENT_KINDS.test(kind)) return reject('names_no_person');
  if (!OFFICER_KINDS.test(kind)) return reject('unknown_kind');
  const company = britishCompany(text(record.company_number) ?? '');
  if (company.length === 0) return reject('not_a_registry_number');
  const name = nameOf(data);
  if (self === undefined || name === undefined) return reject('missing');
  const birth = objectOf(data.date_of_birth);
  const [birthYear, birthMonth] = [whole(birth.year), whole(birth.month)];
  const appointedOn = dayOf(data.notified_on);
  const ceased = dayOf(data.ceased_on);
  const resignedOn = ceased !== undefined && ceased < (appointedOn ?? '') ? undefined : ceased;
  const officer: SourceRecord = {
    entity: 'officer',
    key: self,
    company,
    record: compact({
      name,
      role: ROLE,
      appointedOn,
      resignedOn,
      birthYear,
      birthMonth,
      natures: data.natures_of_control,
      ownerNumber: text(objectOf(data.identification).registration_number),
    }),
  };
  if (!INDIVIDUAL.test(kind)) return { records: [officer] };
  const key = `person:${birthYear === undefined ? self : `${fold(name)} ${birthYear}-${birthMonth ?? 0}`}`;
  const person = personOf(key, data, birthYear);
  return person === null
    ? { records: [officer] }
    : { records: [{ ...officer, person: key }, person] };
}

function personOf(
  key: string,
  data: JsonRecord,
  birthYear: number | undefined,
): SourceRecord | null {
  const elements = objectOf(data.name_elements);
  const surname = text(elements.surname);
  if (surname === undefined) return null;
  const record = compact({
    title: text(elements.title),
    name: joinedBy(' ', text(elements.forename), text(elements.middle_name)),
    surname,
    birthYear,
    _country: text(data.country_of_residence),
  });
  return { entity: 'person', key, record };
}

function nameOf(data: JsonRecord): string | undefined {
  const { title, forename, middle_name: middle, surname } = objectOf(data.name_elements);
  return text(data.name) ?? joinedBy(' ', text(title), text(forename), text(middle), text(surname));
}

function dayOf(value: unknown): string | undefined {
  const day = isoDate(text(value));
  const year = Number(day?.slice(0, 4));
  return year >= FIRST_YEAR && year <= new Date().getUTCFullYear() + 1 ? day : undefined;
}

function objectOf(value: unknown): JsonRecord {
  return typeof value === 'object' && value !== null ? (value as JsonRecord) : {};
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? textOf(value) : undefined;
}

function whole(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : undefined;
}
