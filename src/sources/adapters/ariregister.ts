/**
 * Ariregister, Estonia: basic data (CSV), general data and persons on the card (JSON arrays), and annual reports, of
 * which the general data and the elements are imported together.
 */
import {
  keyReference,
  registryReference,
  type SourceRecord,
  type SourceRow,
  seenOf,
} from '../../core/graph/sources/source-record.ts';
import { unprocessable } from '../../core/lib/errors.ts';
import { fold } from '../../core/lib/fold.ts';
import type { Adapter } from '../adapter.ts';
import { type CsvRow, readCsvRows, rejectUnreadable, unevenReason } from '../csv-rows.ts';
import { readJsonArray } from '../json-array.ts';
import { type JsonObject, objectOf, objectsOf, stringOf } from '../json-values.ts';
import type { SourcePart } from '../source-files.ts';
import { compact, dayFirstDate, domainOf, emailOf, joinedBy, phoneOf, textOf } from '../values.ts';

const COMPANY = 'company:';
const DETAILS = 'details:';
const states: Readonly<Record<string, string>> = {
  R: 'Active',
  L: 'In liquidation',
  N: 'Bankrupt',
  K: 'Dissolved',
};

const basicColumns = [
  'nimi',
  'ariregistri_kood',
  'ettevotja_staatus',
  'asukoht_ettevotja_aadressis',
];
const reportColumns = ['report_id', 'registrikood', 'period_end'];
const elementColumns = ['report_id', 'elemendi_nimetus', 'vaartus'];

export const ariregister: Adapter = {
  name: 'ariregister',
  recognise: ({ text }) => {
    if (/^\ufeff?nimi;ariregistri_kood;/.test(text))
      return { snapshotOf: [COMPANY], read: readBasic };
    if (/^\ufeff?"report_id";/.test(text)) return { snapshotOf: null, read: readReports };
    if (!/^\s*\[\s*\{\s*"ariregistri_kood"/.test(text)) return null;
    if (text.includes('"kaardile_kantud_isikud"')) {
      return { snapshotOf: ['role:', 'person:'], read: readPersons };
    }
    // The files of owners and beneficiaries begin in the same way; as details they would empty those of all companies.
    return text.includes('"yldandmed"') ? { snapshotOf: [DETAILS], read: readDetails } : null;
  },
};

async function* readBasic(parts: AsyncIterable<SourcePart>): AsyncGenerator<SourceRow[]> {
  for await (const part of parts) {
    for await (const rows of readCsvRows(part, { delimiter: ';', required: basicColumns })) {
      yield rows.map(readBasicRow);
    }
  }
}

function readBasicRow(row: CsvRow): SourceRow {
  const unreadable = rejectUnreadable(row, companiesIn);
  if (unreadable !== null) return unreadable;
  const { line } = row;
  const cell = (name: string) => textOf(row.get(name));
  const number = cell('ariregistri_kood') ?? '';
  const reject = (reason: string, field: string): SourceRow => ({
    line,
    reason,
    field,
    seen: [COMPANY + number],
    source: row.source(),
  });
  const uneven = unevenReason(row);
  if (uneven !== null) return reject(uneven, '');
  if (!/^\d{8}$/.test(number)) return reject('not_a_registry_number', 'ariregistri_kood');
  const name = cell('nimi');
  if (name === undefined) return reject('missing', 'nimi');
  const place = cell('asukoha_ehak_tekstina');
  const record = compact({
    name,
    registryNumber: number,
    registryCountry: 'EE',
    status: states[cell('ettevotja_staatus') ?? ''] ?? cell('ettevotja_staatus_tekstina'),
    founded: dayFirstDate(row.get('ettevotja_esmakande_kpv')),
    street: cell('asukoht_ettevotja_aadressis'),
    postcode: cell('indeks_ettevotja_aadressis'),
    locality: place === undefined ? undefined : `${place}, Eesti`,
    _country: 'EE',
    _city: place?.split(', ').at(-2),
  });
  return { line, records: [{ entity: 'company', key: COMPANY + number, record }] };
}

function companiesIn(text: string): string[] {
  return (text.match(/\b\d{8}\b/g) ?? []).map((number) => COMPANY + number);
}

async function* readDetails(parts: AsyncIterable<SourcePart>): AsyncGenerator<SourceRow[]> {
  let line = 0;
  for await (const { bytes } of parts) {
    for await (const company of readJsonArray(bytes)) {
      line += 1;
      const number = stringOf(company.ariregistri_kood) ?? '';
      const data = objectOf(company.yldandmed);
      const current = objectsOf(data.sidevahendid).filter(
        (contact) => stringOf(contact.lopp_kpv) === undefined,
      );
      const contact = (...kinds: string[]) =>
        current
          .filter((one) => kinds.includes(stringOf(one.liik) ?? ''))
          .map((one) => stringOf(one.sisu));
      const sites = contact('WWW');
      const website = sites.find((site) => site !== undefined && !site.includes('@'));
      const emails = [...contact('EMAIL'), ...sites.filter((site) => site?.includes('@'))];
      const record = compact({
        registryNumber: number,
        registryCountry: 'EE',
        email: emails.map(emailOf).find((email) => email !== undefined),
        phone: contact('TEL', 'MOB')
          .map((phone) => phoneOf(phone, 'EE'))
          .find((phone) => phone !== undefined),
        website,
        domain: domainOf(website),
        formerNames: objectsOf(data.arinimed)
          .filter((name) => stringOf(name.lopp_kpv) !== undefined)
          .map((name) => stringOf(name.sisu)),
      });
      yield [
        /^\d{8}$/.test(number)
          ? { line, records: [{ entity: 'company', key: DETAILS + number, record }] }
          : { line, reason: 'not_a_registry_number', field: 'ariregistri_kood', source: company },
      ];
    }
  }
}

async function* readPersons(parts: AsyncIterable<SourcePart>): AsyncGenerator<SourceRow[]> {
  let line = 0;
  for await (const { bytes } of parts) {
    for await (const company of readJsonArray(bytes)) {
      const number = stringOf(company.ariregistri_kood) ?? '';
      yield objectsOf(company.kaardile_kantud_isikud).map((entry) => {
        line += 1;
        return readEntry(line, number, entry);
      });
    }
  }
}

function readEntry(line: number, number: string, entry: JsonObject): SourceRow {
  const text = (name: string) => stringOf(entry[name]);
  const [surname, forenames] = [text('nimi_arinimi'), text('eesnimi')];
  const isPerson = text('isiku_tyyp') === 'F';
  const name = isPerson ? joinedBy(' ', forenames, surname) : surname;
  const born = text('synniaeg');
  const birthDate = born === undefined ? undefined : dayFirstDate(born);
  const appointed = text('algus_kpv') ?? '';
  const code = text('isikukood_hash') ?? text('isikukood_registrikood');
  const keyOf = (who: string) => `role:${number}/${text('isiku_roll') ?? ''}/${who}/${appointed}`;
  if (name === undefined) {
    const seen = seenOf(code === undefined ? undefined : keyOf(code));
    return { line, reason: 'missing', field: 'nimi_arinimi', source: entry, ...seen };
  }
  const who = code ?? `${fold(name)} ${birthDate ?? ''}`;
  const officer: SourceRecord = {
    entity: 'officer',
    key: keyOf(who),
    company: [registryReference(`EE-${number}`), keyReference('ariregister', COMPANY + number)],
    record: compact({
      name,
      role: text('isiku_roll_tekstina') ?? text('isiku_roll'),
      appointedOn: dayFirstDate(appointed),
      resignedOn: dayFirstDate(text('lopp_kpv') ?? ''),
      birthYear: birthDate === undefined ? undefined : Number(birthDate.slice(0, 4)),
      birthMonth: birthDate === undefined ? undefined : Number(birthDate.slice(5, 7)),
    }),
  };
  // The register's hash of the personal code is one person; a name alone is not.
  if (!isPerson || (text('isikukood_hash') === undefined && birthDate === undefined)) {
    return { line, records: [officer] };
  }
  const key = `person:${who}`;
  const record = compact({
    name: forenames,
    surname,
    birthDate,
    birthYear: birthDate && Number(birthDate.slice(0, 4)),
  });
  return {
    line,
    records: [
      { ...officer, person: key },
      { entity: 'person', key, record },
    ],
  };
}

/** The fields of a period by the names of the elements. */
const elementFields: Readonly<Record<string, string>> = {
  Revenue: 'revenue',
  Assets: 'totalAssets',
  Equity: 'netAssets',
  TotalAnnualPeriodProfitLoss: 'profit',
  CashAndCashEquivalents: 'cash',
  AverageNumberOfEmployeesInFullTimeEquivalentUnits: 'employees',
  AverageNumberOfEmployees: 'employees',
};

interface Report {
  line: number;
  number: string;
  periodEnd: string;
  figures: Record<string, number>;
}

async function* readReports(parts: AsyncIterable<SourcePart>): AsyncGenerator<SourceRow[]> {
  const reports = new Map<string, Report>();
  const orphans = new Map<string, number>();
  let hasElements = false;
  for await (const part of parts) {
    const isGeneral = /yldandmed/i.test(part.name);
    if (!isGeneral && reports.size === 0) throw incomplete();
    const required = isGeneral ? reportColumns : elementColumns;
    hasElements ||= !isGeneral;
    for await (const rows of readCsvRows(part, { delimiter: ';', required })) {
      for (const row of rows) {
        if (isGeneral) addReport(reports, row);
        else addElement(reports, orphans, row);
      }
    }
  }
  if (reports.size === 0 || !hasElements) throw incomplete();
  yield [...orphans].map(([report, line]) => ({
    line,
    reason: 'no_general_row',
    source: { report_id: report },
  }));
  // The elements are by year, the general data of all years: a report without any stays as another import left it.
  yield [...reports.values()].filter(hasFigures).map(reportRow);
}

function incomplete(): Error {
  return unprocessable(
    'incomplete_files',
    'Name the file of general data (1.aruannete_yldandmed...) and then those of the elements (4.YYYY_aruannete_elemendid...) in one command; nothing was changed.',
  );
}

function hasFigures({ figures }: Report): boolean {
  return Object.keys(figures).length > 0;
}

function addReport(reports: Map<string, Report>, row: CsvRow): void {
  const periodEnd = dayFirstDate(row.get('period_end'));
  const number = row.get('registrikood').trim();
  if (periodEnd === undefined) return;
  reports.set(row.get('report_id').trim(), { line: row.line, number, periodEnd, figures: {} });
}

function addElement(reports: Map<string, Report>, orphans: Map<string, number>, row: CsvRow): void {
  const id = row.get('report_id').trim();
  const report = reports.get(id);
  if (report === undefined) {
    if (!orphans.has(id)) orphans.set(id, row.line);
    return;
  }
  const field = elementFields[row.get('elemendi_nimetus').trim()];
  // An element without a value is not zero.
  const value = Number(textOf(row.get('vaartus')) ?? Number.NaN);
  if (field !== undefined && Number.isFinite(value)) report.figures[field] = Math.round(value);
}

function reportRow({ line, number, periodEnd, figures }: Report): SourceRow {
  const record = { periodEnd, currency: 'EUR', ...figures };
  return {
    line,
    records: [
      {
        entity: 'financial',
        key: `report:${number}/${periodEnd}`,
        company: [registryReference(`EE-${number}`), keyReference('ariregister', COMPANY + number)],
        record,
      },
    ],
  };
}
