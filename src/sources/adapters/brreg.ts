/**
 * Brreg, Norway: all units (`enheter` as CSV or as a JSON array) and all roles (`roller/totalbestand`). Nightly
 * snapshots.
 */
import {
  keyReference,
  registryReference,
  type SourceRecord,
  type SourceRow,
} from '../../core/graph/sources/source-record.ts';
import { fold } from '../../core/lib/fold.ts';
import type { Adapter } from '../adapter.ts';
import { type CsvRow, readCsvRows, rejectUnreadable, unevenReason } from '../csv-rows.ts';
import { readJsonArray } from '../json-array.ts';
import { type JsonObject, objectOf, objectsOf, stringOf } from '../json-values.ts';
import type { SourcePart } from '../source-files.ts';
import {
  compact,
  domainOf,
  emailOf,
  isoDate,
  joined,
  joinedBy,
  phoneOf,
  wholeOf,
} from '../values.ts';

const UNIT = 'unit:';
const units = { snapshotOf: [UNIT] };
const roles = { snapshotOf: ['role:', 'person:'] };
const required = [
  'organisasjonsnummer',
  'navn',
  'hjemmeside',
  'antallAnsatte',
  'forretningsadresse.adresse',
];

export const brreg: Adapter = {
  name: 'brreg',
  recognise: ({ text }) => {
    if (/^\ufeff?"?organisasjonsnummer"?,"?navn"?,/.test(text)) return { ...units, read: readCsv };
    if (!/^\s*\[\s*\{\s*"organisasjonsnummer"/.test(text)) return null;
    // The units below a company (`underenheter`) are branches: they have no `forretningsadresse`, but a `beliggenhetsadresse`.
    if (text.includes('"beliggenhetsadresse"')) return null;
    return text.includes('"rollegrupper"')
      ? { ...roles, read: readRoles }
      : { ...units, read: readJson };
  },
};

/** The value of a field: `a.b` is a member of an object, or a column of that name. */
type Field = (name: string) => unknown;

async function* readCsv(parts: AsyncIterable<SourcePart>): AsyncGenerator<SourceRow[]> {
  for await (const part of parts) {
    for await (const rows of readCsvRows(part, { delimiter: ',', required }))
      yield rows.map(readCsvRow);
  }
}

function readCsvRow(row: CsvRow): SourceRow {
  const unreadable = rejectUnreadable(row, unitsIn);
  if (unreadable !== null) return unreadable;
  const { line } = row;
  const number = row.get('organisasjonsnummer').trim();
  const reason = unevenReason(row);
  if (reason !== null) return { line, reason, seen: [UNIT + number], source: row.source() };
  return readUnit(line, (name) => row.get(name), row.source);
}

function unitsIn(text: string): string[] {
  return (text.match(/\b\d{9}\b/g) ?? []).map((number) => UNIT + number);
}

async function* readJson(parts: AsyncIterable<SourcePart>): AsyncGenerator<SourceRow[]> {
  let line = 0;
  for await (const { bytes } of parts) {
    for await (const unit of readJsonArray(bytes)) {
      line += 1;
      const field: Field = (name) =>
        name.split('.').reduce<unknown>((value, member) => objectOf(value)[member], unit);
      yield [readUnit(line, field, () => unit)];
    }
  }
}

function readUnit(line: number, field: Field, source: () => unknown): SourceRow {
  const text = (name: string) => stringOf(field(name));
  const number = text('organisasjonsnummer') ?? '';
  if (!isOrganisationNumber(number)) {
    return {
      line,
      reason: 'not_an_organisation_number',
      field: 'organisasjonsnummer',
      source: source(),
    };
  }
  const name = text('navn');
  if (name === undefined)
    return { line, reason: 'missing', field: 'navn', seen: [UNIT + number], source: source() };
  const town = text('forretningsadresse.poststed');
  const country = text('forretningsadresse.landkode');
  const website = text('hjemmeside');
  const codes = [1, 2, 3].map((index) => text(`naeringskode${index}.kode`));
  const record = compact({
    name,
    registryNumber: number,
    registryCountry: 'NO',
    website,
    domain: domainOf(website),
    email: emailOf(text('epostadresse')),
    phone: phoneOf(text('telefon'), 'NO') ?? phoneOf(text('mobil'), 'NO'),
    employees: wholeOf(text('antallAnsatte')),
    founded:
      isoDate(text('stiftelsesdato')) ??
      isoDate(
        text('registreringsdatoenhetsregisteret') ?? text('registreringsdatoEnhetsregisteret'),
      ),
    sicCodes: codes.filter((code) => code !== undefined),
    street: joined(...addressLines(field('forretningsadresse.adresse'))),
    postcode: text('forretningsadresse.postnummer'),
    locality: joined(town, text('forretningsadresse.land')),
    status: isTrue(field('konkurs'))
      ? 'Bankrupt'
      : isTrue(field('underAvvikling'))
        ? 'Winding up'
        : 'Active',
    _country: country,
    _city: town,
  });
  return { line, records: [{ entity: 'company', key: UNIT + number, record }] };
}

/** A list in JSON; in CSV the lines are joined by the two characters `/n`. */
function addressLines(value: unknown): string[] {
  if (Array.isArray(value)) return value.map(String);
  return typeof value === 'string' ? value.split('/n') : [];
}

async function* readRoles(parts: AsyncIterable<SourcePart>): AsyncGenerator<SourceRow[]> {
  let line = 0;
  for await (const { bytes } of parts) {
    for await (const company of readJsonArray(bytes)) {
      const number = stringOf(company.organisasjonsnummer) ?? '';
      const rows: SourceRow[] = [];
      for (const group of objectsOf(company.rollegrupper)) {
        const code = stringOf(objectOf(group.type).kode) ?? '';
        for (const role of objectsOf(group.roller)) {
          line += 1;
          rows.push(readRole(line, { number, group: code, role }));
        }
      }
      yield rows;
    }
  }
}

function readRole(
  line: number,
  { number, group, role }: { number: string; group: string; role: JsonObject },
): SourceRow {
  const reject = (reason: string): SourceRow => ({
    line,
    reason,
    source: { organisasjonsnummer: number, ...role },
  });
  const given = objectOf(role.person);
  const unit = objectOf(role.enhet);
  if (isTrue(role.fratraadt) || isTrue(role.avregistrert)) return reject('departed');
  if (isTrue(given.erDoed)) return reject('dead');
  const code = stringOf(objectOf(role.type).kode) ?? '';
  const names = objectOf(given.navn);
  const surname = stringOf(names.etternavn);
  const forenames = joinedBy(' ', stringOf(names.fornavn), stringOf(names.mellomnavn));
  const unitName = Array.isArray(unit.navn) ? unit.navn.map(String).join(' ') : stringOf(unit.navn);
  const name = joinedBy(' ', forenames, surname) ?? unitName ?? stringOf(unit.organisasjonsnummer);
  if (name === undefined) return reject('missing');
  const birthDate = isoDate(stringOf(given.fodselsdato));
  const who = stringOf(unit.organisasjonsnummer) ?? `${fold(name)} ${birthDate ?? ''}`;
  const officer: SourceRecord = {
    entity: 'officer',
    key: `role:${number}/${group}/${code}/${who}`,
    company: [registryReference(`NO-${number}`), keyReference('brreg', UNIT + number)],
    record: compact({
      name,
      role: stringOf(objectOf(role.type).beskrivelse) ?? code,
      birthYear: birthDate === undefined ? undefined : Number(birthDate.slice(0, 4)),
      birthMonth: birthDate === undefined ? undefined : Number(birthDate.slice(5, 7)),
    }),
  };
  // Without a day of birth a name alone would join two people.
  if (surname === undefined || birthDate === undefined) return { line, records: [officer] };
  const key = `person:${who}`;
  const record = compact({
    name: forenames,
    surname,
    birthDate,
    birthYear: Number(birthDate.slice(0, 4)),
  });
  return {
    line,
    records: [
      { ...officer, person: key },
      { entity: 'person', key, record },
    ],
  };
}

function isTrue(value: unknown): boolean {
  return value === true || value === 'true';
}

const weights = [3, 2, 7, 6, 5, 4, 3, 2];

/** Nine digits, the last a check digit modulo 11. */
function isOrganisationNumber(text: string): boolean {
  if (!/^\d{9}$/.test(text)) return false;
  const sum = weights.reduce((total, weight, index) => total + weight * Number(text[index]), 0);
  return (11 - (sum % 11)) % 11 === Number(text[8]);
}
