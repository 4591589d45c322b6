/**
 * Companies House, people with significant control (`persons-with-significant-control-snapshot-2026-10-02.zip` or
 * its 32 parts): one JSON object a line, daily.
 */
import {
  type SourceRecord,
  type SourceRow,
  seenOf,
} from '../../core/graph/sources/source-record.ts';
import { unprocessable } from '../../core/lib/errors.ts';
import { fold } from '../../core/lib/fold.ts';
import type { Adapter } from '../adapter.ts';
import { readJsonLines } from '../json-lines.ts';
import { type JsonObject, objectOf } from '../json-values.ts';
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

/** `psc-snapshot-2026-10-02_1of32.txt`. */
const PART = /_(\d+)of(\d+)\.\w+$/;

async function* readParts(parts: AsyncIterable<SourcePart>): AsyncGenerator<SourceRow[]> {
  const numbers = new Set<string>();
  let partsTotal = 0;
  let lines = 0;
  let linesTotal = 0;
  for await (const { name, bytes } of parts) {
    const [, number, of] = PART.exec(name) ?? [];
    if (number !== undefined) numbers.add(number);
    partsTotal = Math.max(partsTotal, Number(of ?? 0));
    const read = (line: number, record: JsonObject) => {
      const total = totalOf(objectOf(record.data));
      linesTotal = Math.max(linesTotal, total ?? 0);
      return total === null ? readLine(line, record) : null;
    };
    for await (const rows of readJsonLines(bytes, read, selvesIn)) {
      lines += rows.length;
      yield rows;
    }
  }
  // What one part of many has is fewer than the records by which a snapshot is known to be cut off.
  if (numbers.size < partsTotal) {
    throw unprocessable(
      'incomplete_files',
      `These are ${numbers.size} of ${partsTotal} parts of a snapshot: its other records would end. Nothing was changed; name all parts in one command.`,
    );
  }
  if (lines < linesTotal) {
    throw unprocessable(
      'wrong_trailer',
      `The snapshot should have ${linesTotal} lines, and has ${lines}: it is cut off, or lacks a part. Nothing was changed; download it again.`,
    );
  }
}

/** The lines of the snapshot, as its trailer says; null for another line. The trailer describes the file and no person. */
function totalOf(data: JsonObject): number | null {
  if (text(data.kind)?.startsWith('totals#') !== true) return null;
  const counts = ['persons_of_significant_control', 'statements', 'exemptions'];
  return counts.reduce((total, name) => total + (whole(data[`${name}_count`]) ?? 0), 0);
}

function readLine(line: number, record: JsonObject): SourceRow {
  const data = objectOf(record.data);
  const kind = text(data.kind) ?? '';
  const self = text(objectOf(data.links).self);
  const reject = (reason: string): SourceRow => ({
    line,
    reason,
    source: record,
    ...seenOf(self),
  });
  if (kind.startsWith('super-secure-')) {
    return { line, optedOut: [], keys: self === undefined ? [] : [['officer', self]] };
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
  if (!INDIVIDUAL.test(kind)) return { line, records: [officer] };
  const key = `person:${birthYear === undefined ? self : `${fold(name)} ${birthYear}-${birthMonth ?? 0}`}`;
  const person = personOf(key, data, birthYear);
  // Without the parts of the name, the office still belongs to the person whom other lines have under this key.
  const linked = { ...officer, person: key };
  return { line, records: person === null ? [linked] : [linked, person] };
}

/** The link to itself in a line that is not JSON; none in a line of someone who may have become secret. */
function selvesIn(line: string): string[] {
  if (line.includes('super-secure-')) return [];
  return [...line.matchAll(/"self"\s*:\s*"([^"\\]+)"/g)].map(([, self = '']) => self);
}

function personOf(
  key: string,
  data: JsonObject,
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

function nameOf(data: JsonObject): string | undefined {
  const { title, forename, middle_name: middle, surname } = objectOf(data.name_elements);
  return text(data.name) ?? joinedBy(' ', text(title), text(forename), text(middle), text(surname));
}

function dayOf(value: unknown): string | undefined {
  const day = isoDate(text(value));
  const year = Number(day?.slice(0, 4));
  return year >= FIRST_YEAR && year <= new Date().getUTCFullYear() + 1 ? day : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? textOf(value) : undefined;
}

function whole(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : undefined;
}
