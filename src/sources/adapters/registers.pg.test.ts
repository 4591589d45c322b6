/** Brreg, Ariregister, the accounts of Companies House and the PDL dataset: the pitfalls of each. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { importValues } from '../../core/graph/import/import-harness.test-suite.ts';
import {
  companyOf,
  countRows,
  csvOf,
  importText,
  importTexts,
  personOf,
} from '../import-files.test-suite.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database?.drop());

const load = (name: string, text: string, asOf = '2026-01-01', source = 'auto') =>
  importText(database.sql, { source, name, text, asOf });

it('Brreg: address lines, a line end in a cell, surplus cells, the state, the JSON of the same unit', async () => {
  const header = [
    'organisasjonsnummer',
    'navn',
    'hjemmeside',
    'telefon',
    'antallAnsatte',
    'stiftelsesdato',
    'naeringskode1.kode',
    'forretningsadresse.adresse',
    'forretningsadresse.postnummer',
    'forretningsadresse.poststed',
    'forretningsadresse.land',
    'forretningsadresse.landkode',
    'konkurs',
    'aktivitet',
  ];
  const unit = {
    organisasjonsnummer: '923609016',
    navn: 'EKSEMPEL ASA',
    hjemmeside: 'WWW.EKSEMPEL.NO',
    telefon: '51 99 00 00',
    antallAnsatte: '7',
    stiftelsesdato: '1972-09-18',
    'naeringskode1.kode': '06.100',
    'forretningsadresse.adresse': 'c/o Noen AS/nGata 6',
    'forretningsadresse.postnummer': '4035',
    'forretningsadresse.poststed': 'STAVANGER',
    'forretningsadresse.land': 'Norge',
    'forretningsadresse.landkode': 'NO',
    konkurs: 'true',
    aktivitet: 'En\nto',
  };
  const surplus = '"810034882","TO","","","","","","","","","","","","","one more"\n';
  const report = await load(
    'enheter.csv',
    csvOf(header, [unit, { ...unit, organisasjonsnummer: '923609017' }]) + surplus,
  );
  expect(report).toMatchObject({ rows: 3, new: 1, rejected: 2 });
  expect(report.rejects).toMatchObject([
    { line: 4, reason: 'not_an_organisation_number' },
    { line: 6, reason: 'more_cells_than_header' },
  ]);
  expect(await companyOf(database.sql, 'brreg', 'unit:923609016')).toMatchObject({
    registryNumber: '923609016',
    registryCountry: 'NO',
    domain: 'eksempel.no',
    phone: '+4751990000',
    employees: 7,
    founded: '1972-09-18',
    sicCodes: ['06.100'],
    street: 'c/o Noen AS, Gata 6',
    status: 'Bankrupt',
  });
  const json = JSON.stringify([
    {
      organisasjonsnummer: '923609016',
      navn: 'EKSEMPEL ASA',
      hjemmeside: 'WWW.EKSEMPEL.NO',
      telefon: '51 99 00 00',
      antallAnsatte: 7,
      stiftelsesdato: '1972-09-18',
      naeringskode1: { kode: '06.100' },
      konkurs: true,
      forretningsadresse: {
        adresse: ['c/o Noen AS', 'Gata 6'],
        postnummer: '4035',
        poststed: 'STAVANGER',
        land: 'Norge',
        landkode: 'NO',
      },
    },
  ]);
  expect(await load('enheter.json', json)).toMatchObject({ rows: 1, same: 1 });
  await expect(load('enheter.json', json.slice(0, -1))).rejects.toMatchObject({
    code: 'unreadable_json',
  });
  const role = (type: string, who: object, more: object = {}) => ({
    type: { kode: type, beskrivelse: type },
    ...who,
    ...more,
  });
  const person = (fornavn: string, erDoed = false) => ({
    person: { fodselsdato: '1970-03-04', navn: { fornavn, etternavn: 'Lerke' }, erDoed },
  });
  const roles = [
    {
      organisasjonsnummer: '923609016',
      rollegrupper: [
        {
          type: { kode: 'STYR' },
          roller: [
            role('LEDE', person('Ada')),
            role('MEDL', person('Ada')),
            role('MEDL', person('Bo'), { fratraadt: true }),
            role('MEDL', person('Cy', true)),
            role('REVI', { enhet: { organisasjonsnummer: '810034882', navn: ['REVISOR AS'] } }),
          ],
        },
      ],
    },
  ];
  expect(await load('roller.json', JSON.stringify(roles))).toMatchObject({
    rows: 5,
    new: 3,
    rejected: 2,
  });
  expect(await countRows(database.sql, 'persons')).toBe(1);
  expect(await personOf(database.sql, 'brreg', 'person:ada lerke 1970-03-04')).toMatchObject({
    birthDate: '1970-03-04',
  });
});

it('Ariregister: quoted semicolons, contacts that ended, repeated entries, reports of two files', async () => {
  const basic =
    '\ufeffnimi;ariregistri_kood;ettevotja_staatus;ettevotja_esmakande_kpv;asukoht_ettevotja_aadressis;asukoha_ehak_tekstina;indeks_ettevotja_aadressis\n' +
    '"Semikoolon; ja AS";19172583;R;16.07.2016;Tn 7;Tallinn, Harju maakond;10116\n';
  await load('lihtandmed.csv', basic);
  const contact = (liik: string, sisu: string, lopp_kpv: string | null = null) => ({
    liik,
    sisu,
    lopp_kpv,
  });
  const details = [
    {
      ariregistri_kood: 19172583,
      nimi: 'x',
      yldandmed: {
        arinimed: [{ sisu: 'Vana AS', lopp_kpv: '31.12.2015' }],
        sidevahendid: [
          contact('EMAIL', 'old@x.example', '01.01.2020'),
          contact('WWW', 'info@x.example'),
          contact('WWW', 'www.x.example'),
        ],
      },
    },
  ];
  await load('yldandmed.json', JSON.stringify(details));
  expect(await companyOf(database.sql, 'ariregister', 'details:19172583')).toMatchObject({
    name: 'Semikoolon; ja AS',
    founded: '2016-07-16',
    email: 'info@x.example',
    domain: 'x.example',
    formerNames: ['Vana AS'],
    locality: 'Tallinn, Harju maakond, Eesti',
    status: 'Active',
  });
  const entry = {
    isiku_tyyp: 'F',
    isiku_roll: 'JUHL',
    isiku_roll_tekstina: 'Juhatuse liige',
    eesnimi: 'Ada',
    nimi_arinimi: 'Lark',
    isikukood_hash: 'h',
    algus_kpv: '25.11.2021',
    lopp_kpv: null,
  };
  const owner = {
    ...entry,
    isiku_tyyp: 'J',
    isikukood_hash: null,
    eesnimi: null,
    nimi_arinimi: 'OWNER AS',
  };
  const personsOf = (...kaardile_kantud_isikud: readonly object[]) =>
    JSON.stringify([{ ariregistri_kood: 19172583, kaardile_kantud_isikud }]);
  expect(await load('isikud.json', personsOf(entry, entry, owner))).toMatchObject({
    rows: 3,
    new: 2,
    same: 1,
  });
  const unnamed = { ...entry, nimi_arinimi: null, eesnimi: null };
  expect(await load('isikud.json', personsOf(unnamed, owner))).toMatchObject({
    rejected: 1,
    gone: 0,
  });
  expect(await countRows(database.sql, 'persons')).toBe(1);
  expect(await countRows(database.sql, 'officers')).toBe(2);
  await expect(
    load('1.aruannete_yldandmed.csv', '"report_id";"registrikood";"period_end"\n'),
  ).rejects.toMatchObject({ code: 'incomplete_files' });
});

it('accounts: scale, sign, decimal comma, dash, dimensions, another currency, a document that is cut off', async () => {
  await importValues(database.sql, 'companies', [
    { id: 1, name: 'One', registryNumber: '00000011', registryCountry: 'GB' },
  ]);
  const context = (id: string, period: string, more = '') =>
    `<xbrli:context id="${id}"><xbrli:entity>${more}</xbrli:entity><xbrli:period>${period}</xbrli:period></xbrli:context>`;
  const member =
    '<xbrli:segment><xbrldi:explicitMember dimension="a">b</xbrldi:explicitMember></xbrli:segment>';
  const figure = (name: string, ref: string, text: string, more = 'unitRef="M"') =>
    `<ix:nonFraction name="core:${name}" contextRef='${ref}' ${more}>${text}</ix:nonFraction>`;
  const html = `<html>${context('now', '<xbrli:instant>2024-12-31</xbrli:instant>')}${context('then', '<xbrli:instant>2023-12-31</xbrli:instant>')}
    ${context('year', '<xbrli:startDate>2024-01-01</xbrli:startDate><xbrli:endDate>2024-12-31</xbrli:endDate>')}
    ${context('part', '<xbrli:instant>2024-12-31</xbrli:instant>', member)}
    <xbrli:unit id="M"><xbrli:measure>iso4217:EUR</xbrli:measure></xbrli:unit><xbrli:unit id="P"><xbrli:measure>pure</xbrli:measure></xbrli:unit>
    ${figure('NetAssetsLiabilities', 'part', '999')}
    ${figure('NetAssetsLiabilities', 'now', '<b>2</b>,800', 'unitRef="M" scale="3" sign="-"')}
    ${figure('NetAssetsLiabilities', 'then', '1.234,5', 'unitRef="M" format="ixt:numcommadecimal"')}
    ${figure('CashBankOnHand', 'then', '1.234,5', 'unitRef="M" format="ixt4:num-comma-decimal"')}
    ${figure('CashBankOnHand', 'now', '-', 'unitRef="M" format="ixt:zerodash"')}
    ${figure('AverageNumberEmployeesDuringPeriod', 'year', '2', 'unitRef="P" scale="-2"')}</html>`;
  const file = 'Prod223_1_00000011_20241231.html';
  expect(await load(file, html)).toMatchObject({ rows: 1, new: 1 });
  const periods =
    await database.sql`select period_end, currency, net_assets, cash, employees from financial_periods order by 1`;
  expect(periods).toEqual([
    { periodEnd: '2023-12-31', currency: 'EUR', netAssets: 1235, cash: 1235, employees: null },
    { periodEnd: '2024-12-31', currency: 'EUR', netAssets: -2800000, cash: 0, employees: 0 },
  ]);
  expect((await load(file, html.slice(0, -7))).rejects).toMatchObject([{ reason: 'cut_off' }]);
  expect((await load('Prod223_1_00000011_20241231.xml', '<xbrl></xbrl>')).rejects).toMatchObject([
    { reason: 'not_inline_xbrl' },
  ]);
  expect((await load(file, '<html></html>')).rejects).toMatchObject([{ reason: 'no_figures' }]);
  expect((await load('Prod223_1_00000099_20241231.html', html)).rejects).toMatchObject([
    { reason: 'no_such_company' },
  ]);
});

it('PDL: quotes behind a backslash, a line end in a name, a shared host, the same record in both forms', async () => {
  const id = (last: string) => last.padStart(28, 'A');
  const rows = [
    { id: id('1'), website: 'monitor.example', name: 'monitor 24"', size: '1-10', founded: 2013 },
    {
      id: id('2'),
      website: 'facebook.com/page',
      name: 'two\nlines, "quoted"',
      size: null,
      founded: null,
    },
    { id: id('3'), website: null, name: 'back\\slash', size: '10001+', founded: 12 },
  ];
  const jsonl = rows.map((row) => JSON.stringify(row)).join('\n');
  expect(await load('dataset.json', jsonl)).toMatchObject({ rows: 3, new: 3 });
  const csv =
    'country,founded,id,industry,linkedin_url,locality,name,region,size,website\n' +
    `,2013,${id('1')},,,,"monitor 24\\"",,1-10,monitor.example\n` +
    `,,${id('2')},,,,"two\nlines, \\"quoted\\"",,,facebook.com/page\n` +
    `,12,${id('3')},,,,back\\slash,,10001+,\n`;
  expect(await load('dataset.csv', csv)).toMatchObject({ rows: 3, same: 3, rejected: 0 });
  expect(await companyOf(database.sql, 'pdl', id('1'))).toMatchObject({
    name: 'monitor 24"',
    domain: 'monitor.example',
    founded: '2013',
  });
  expect(await companyOf(database.sql, 'pdl', id('2'))).toMatchObject({
    domain: null,
    website: 'facebook.com/page',
  });
});

it('Brreg and Ariregister: a file that only begins like one of theirs is refused', async () => {
  const branch = { organisasjonsnummer: '810034882', navn: 'AVDELING', beliggenhetsadresse: {} };
  const owners = { ariregistri_kood: 19172583, nimi: 'x', osanikud: [] };
  for (const rows of [[branch], [owners]]) {
    const refused = load('rows.json', JSON.stringify(rows));
    await expect(refused).rejects.toMatchObject({ code: 'unknown_source' });
  }
});

it('Ariregister: the reports of one year leave those of another as they are, and come after the general data', async () => {
  await load(
    'lihtandmed.csv',
    'nimi;ariregistri_kood;ettevotja_staatus;asukoht_ettevotja_aadressis\nEks AS;19172583;R;\n',
  );
  const general =
    '"report_id";"registrikood";"period_end"\n"1";"19172583";"31.12.2023"\n"2";"19172583";"31.12.2024"\n';
  const elements = (report: string, revenue: string) =>
    `"report_id";"elemendi_nimetus";"vaartus"\n"${report}";"Revenue";"${revenue}"\n`;
  const loadBoth = (...parts: [name: string, text: string][]) =>
    importTexts(database.sql, { source: 'auto', parts, asOf: '2026-01-01' });
  const [first, second] = ['1.aruannete_yldandmed.csv', '4.aruannete_elemendid.csv'];
  await loadBoth([first, general], [second, elements('1', '100.0')]);
  await loadBoth([first, general], [second, elements('2', '200.0')]);
  // A report whose only element is empty has no figure, and no zero.
  await loadBoth([first, general], [second, elements('2', '')]);
  const periods = () =>
    database.sql`select period_end, revenue from financial_periods order by period_end`;
  const both = [
    { periodEnd: '2023-12-31', revenue: 100 },
    { periodEnd: '2024-12-31', revenue: 200 },
  ];
  expect(await periods()).toEqual(both);
  const turned = loadBoth([second, elements('2', '300.0')], [first, general]);
  await expect(turned).rejects.toMatchObject({ code: 'incomplete_files' });
  expect(await periods()).toEqual(both);
});
