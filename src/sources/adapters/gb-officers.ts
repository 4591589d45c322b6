/**
 * Companies House, officers: products 195 and 216 (snapshots) and 198 (daily changes). Fixed columns in latin-1, then
 * fields that end with `<`; a header with the day, and a trailer with the number of lines, which must agree.
 */
import {
  type SourceRecord,
  type SourceRow,
  seenOf,
} from '../../core/graph/sources/source-record.ts';
import { countryCode } from '../../core/identifiers/country.ts';
import { unprocessable } from '../../core/lib/errors.ts';
import type { Adapter } from '../adapter.ts';
import type { SourcePart } from '../source-files.ts';
import { readLines } from '../text-lines.ts';
import { britishCompany, compact, compactDate, joined, joinedBy, textOf } from '../values.ts';

const HEADER = /^DDDD(SNAP|UPDT)\d{4}(\d{8})/;
const TRAILER = /^99999999(\d{8})\s*$/;

/** The office of each type; the second type of a pair is the same office, resigned. */
const offices: Readonly<Record<string, string>> = {
  '00': 'secretary',
  '02': 'secretary',
  '01': 'director',
  '03': 'director',
  '04': 'LLP member',
  '06': 'LLP member',
  '05': 'LLP designated member',
  '07': 'LLP designated member',
  '11': 'judicial factor',
  '14': 'judicial factor',
  '12': 'receiver and manager',
  '15': 'receiver and manager',
  '13': 'manager',
  '16': 'manager',
  '17': 'SE administrative organ member',
  '20': 'SE administrative organ member',
  '18': 'SE supervisory organ member',
  '21': 'SE supervisory organ member',
  '19': 'SE management organ member',
  '22': 'SE management organ member',
};
/** One for each office. */
const knownTypes = [
  ...new Map(Object.entries(offices).map(([type, office]) => [office, type])).values(),
];
const APPOINTED_IN_ERROR = '99';

export const gbOfficers: Adapter = {
  name: 'gb-officers',
  recognise: ({ text }) => {
    const header = HEADER.exec(text);
    if (header === null) return null;
    const asOf = compactDate(header[2] ?? '');
    return {
      ...(asOf === undefined ? {} : { asOf }),
      snapshotOf: header[1] === 'SNAP' ? [''] : null,
      read: readParts,
    };
  },
};

async function* readParts(parts: AsyncIterable<SourcePart>): AsyncGenerator<SourceRow[]> {
  for await (const { name, bytes } of parts) {
    let isUpdate: boolean | null = null;
    let lines = 0;
    let trailer: number | null = null;
    for await (const texts of readLines(bytes, 'latin1')) {
      const rows: SourceRow[] = [];
      for (const { line, text } of texts) {
        const last = TRAILER.exec(text);
        if (isUpdate === null) isUpdate = readHeader(name, text);
        else if (last !== null) trailer = Number(last[1]);
        else if (text.trim() !== '') {
          lines += 1;
          if (text[8] !== '1') rows.push(readPerson(line, text, isUpdate));
        }
      }
      yield rows;
    }
    if (trailer !== lines) {
      const said =
        trailer === null ? 'has no trailer' : `should have ${trailer} lines, and has ${lines}`;
      throw unprocessable(
        'wrong_trailer',
        `${name} ${said}: it is cut off. Nothing was changed; obtain it again.`,
      );
    }
  }
}

function readHeader(name: string, text: string): boolean {
  const header = HEADER.exec(text);
  if (header !== null) return header[1] === 'UPDT';
  throw unprocessable(
    'unknown_columns',
    `${name} does not begin with a header; nothing was changed.`,
  );
}

/** The columns of a person's line; `from` and `to` as in a slice. */
interface Columns {
  corporate: number;
  newType: number;
  oldType: number;
  newNumber: number;
  oldNumber: number;
  appointed: number;
  resigned: number;
  postcode: number;
  birth: number;
  fields: number;
}

const snapshotColumns: Columns = {
  corporate: 24,
  oldType: 10,
  newType: 10,
  oldNumber: 12,
  newNumber: 12,
  appointed: 32,
  resigned: 40,
  postcode: 48,
  birth: 56,
  fields: 76,
};
const updateColumns: Columns = {
  corporate: 12,
  oldType: 15,
  newType: 17,
  oldNumber: 19,
  newNumber: 31,
  birth: 43,
  postcode: 67,
  appointed: 75,
  resigned: 83,
  fields: 111,
};

function readPerson(line: number, text: string, isUpdate: boolean): SourceRow {
  const at = isUpdate ? updateColumns : snapshotColumns;
  const cell = (from: number, length: number) => text.slice(from, from + length).trim();
  const reject = (reason: string, ...seen: string[]): SourceRow => ({
    line,
    reason,
    source: text,
    ...seenOf(...seen),
  });
  const isCorporate = text[at.corporate] === 'Y';
  const number = cell(at.newNumber, 12).slice(0, 8);
  if (text[8] !== '2' || !/^\d{8}$/.test(number)) return reject('malformed_line');
  const companyNumber = cell(0, 8);
  const [oldType, newType] = [cell(at.oldType, 2), cell(at.newType, 2)];
  const appointed = cell(at.appointed, 8);
  const keyOf = (who: string, type: string) =>
    `${companyNumber}/${who}/${offices[type] ?? type}/${appointed}`;
  const key = keyOf(number, newType);
  const fields = text.slice(at.fields).split('<');
  if (fields.length < 14) return reject('malformed_line', key);
  const birth = cell(at.birth, 6);
  const person = personOf(number, fields, { birth, postcode: cell(at.postcode, 8) });
  // A nominee's details change in all companies at once.
  if (companyNumber === '') {
    return isCorporate ? reject('names_no_company') : { line, records: [person] };
  }
  const company = britishCompany(companyNumber);
  // The row does not say which of the person's stored offices it is; the person is not gone.
  if (company.length === 0) return reject('not_a_registry_number', person.key);
  const oldKey = keyOf(cell(at.oldNumber, 12).slice(0, 8), oldType);
  if (newType === APPOINTED_IN_ERROR) return { line, ended: ['officer', oldKey] };
  const role = offices[newType];
  // It may be a new number of an office that is stored.
  if (role === undefined)
    return reject('unknown_type', person.key, ...knownTypes.map((type) => keyOf(number, type)));
  const [title, forenames, surname] = fields;
  const officer: SourceRecord = {
    entity: 'officer',
    key,
    company,
    record: compact({
      name: joinedBy(' ', title, forenames, surname),
      role,
      appointedOn: compactDate(appointed),
      resignedOn: compactDate(cell(at.resigned, 8)),
      birthYear: Number(birth.slice(0, 4)) || undefined,
      birthMonth: Number(birth.slice(4, 6)) || undefined,
    }),
  };
  if (textOf(surname) === undefined) return reject('missing', key);
  const ends = oldKey === key ? {} : { ends: [['officer', oldKey] as const] };
  return isCorporate
    ? { line, records: [officer], ...ends }
    : { line, records: [{ ...officer, person: person.key }, person], ...ends };
}

function personOf(
  number: string,
  fields: readonly string[],
  { birth, postcode }: { birth: string; postcode: string },
): SourceRecord {
  const [title, forenames, surname, , careOf, poBox, line1, line2, town, county, country] = fields;
  const [occupation, , residence] = fields.slice(11);
  // The address for letters is often that of the company, in another country than the person's.
  const isAtHome =
    textOf(residence) === undefined ||
    countryCode(residence ?? '') === countryCode(textOf(country) ?? 'GB');
  return {
    entity: 'person',
    key: `person:${number}`,
    record: compact({
      title: textOf(title),
      name: textOf(forenames),
      surname: textOf(surname),
      birthYear: Number(birth.slice(0, 4)) || undefined,
      position: textOf(occupation),
      street: joined(
        textOf(careOf) === undefined ? undefined : `C/O ${careOf}`,
        textOf(poBox) === undefined ? undefined : `PO BOX ${poBox}`,
        line1,
        line2,
      ),
      postcode: textOf(postcode),
      locality: joined(town, county, country),
      _city: isAtHome ? textOf(town) : undefined,
      _country: textOf(residence) ?? textOf(country),
    }),
  };
}
