/** GLEIF and SIRENE: the pitfalls of their files, and what joins them. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { showImport, undoImport } from '../../core/graph/sources/undo-import.ts';
import { must } from '../../core/lib/assert.ts';
import { companyOf, countRows, csvOf, importText } from '../import-files.test-suite.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database?.drop());

const gleifHeader = [
  'LEI',
  'Entity.LegalName',
  'Entity.OtherEntityNames.OtherEntityName.1',
  'Entity.OtherEntityNames.OtherEntityName.1.type',
  'Entity.LegalAddress.FirstAddressLine',
  'Entity.LegalAddress.City',
  'Entity.LegalAddress.Country',
  'Entity.LegalJurisdiction',
  'Entity.RegistrationAuthority.RegistrationAuthorityID',
  'Entity.RegistrationAuthority.RegistrationAuthorityEntityID',
  'Entity.EntityStatus',
  'Entity.EntityCreationDate',
  'Registration.RegistrationStatus',
];

/** An LEI of these 18 characters with its check digits. */
function lei(start: string): string {
  const digits = [...`${start}00`].map((character) => Number.parseInt(character, 36)).join('');
  return start + String(98n - (BigInt(digits) % 97n)).padStart(2, '0');
}

const one = lei('EXAMPLE00000000001');
const entity = (more: Record<string, string> = {}) => ({
  LEI: one,
  'Entity.LegalName': 'Exemple SA',
  'Entity.LegalAddress.City': 'Lyon',
  'Entity.LegalAddress.Country': 'FR',
  'Entity.LegalJurisdiction': 'FR',
  'Entity.RegistrationAuthority.RegistrationAuthorityID': 'RA000189',
  'Entity.RegistrationAuthority.RegistrationAuthorityEntityID': '732 829 320',
  'Entity.EntityStatus': 'ACTIVE',
  'Entity.EntityCreationDate': '2001-02-03T00:00:00+02:00',
  'Registration.RegistrationStatus': 'LAPSED',
  ...more,
});
const loadGleif = (rows: readonly Record<string, string>[], asOf: string) =>
  importText(database.sql, {
    source: 'auto',
    name: 'lei.csv',
    text: csvOf(gleifHeader, rows),
    asOf,
  });

describe('legal entities of the golden copy', () => {
  it('keep a lapsed one, say that an inactive one is dissolved, and end a duplicate', async () => {
    await loadGleif(
      [
        entity({
          'Entity.OtherEntityNames.OtherEntityName.1': 'Vieux Nom',
          'Entity.OtherEntityNames.OtherEntityName.1.type': 'PREVIOUS_LEGAL_NAME',
        }),
      ],
      '2026-01-01',
    );
    expect(await companyOf(database.sql, 'gleif', one)).toMatchObject({
      name: 'Exemple SA',
      formerNames: ['Vieux Nom'],
      founded: '2001-02-03',
      registryCountry: 'FR',
      status: 'Active',
    });
    await loadGleif([entity({ 'Entity.EntityStatus': 'INACTIVE' })], '2026-01-02');
    expect(await companyOf(database.sql, 'gleif', one)).toMatchObject({ status: 'Dissolved' });
    const duplicate = entity({ 'Registration.RegistrationStatus': 'DUPLICATE' });
    expect(await loadGleif([duplicate], '2026-01-03')).toMatchObject({ changed: 1, gone: 1 });
    expect(await countRows(database.sql, 'companies')).toBe(0);
  });

  it('reject a wrong check digit, and take no number from an authority that is none', async () => {
    const report = await loadGleif(
      [
        entity({ LEI: `${one.slice(0, 18)}00` }),
        entity({ 'Entity.RegistrationAuthority.RegistrationAuthorityID': 'RA999999' }),
      ],
      '2026-01-01',
    );
    expect(report.rejects).toMatchObject([{ line: 2, reason: 'not_a_lei', field: 'LEI' }]);
    expect(await companyOf(database.sql, 'gleif', one)).toMatchObject({ registryNumber: null });
  });
});

const other = lei('EXAMPLE00000000002');
const inRegister = (country: string, authority: string, number: string) => ({
  'Entity.LegalAddress.Country': country,
  'Entity.LegalJurisdiction': country,
  'Entity.RegistrationAuthority.RegistrationAuthorityID': authority,
  'Entity.RegistrationAuthority.RegistrationAuthorityEntityID': number,
});

describe('a number in a register', () => {
  it('joins no two legal entities: those of two courts have one, and so have a fund and its umbrella', async () => {
    const berlin = entity(inRegister('DE', 'RA000210', 'HRB 1234'));
    const munich = { ...entity(inRegister('DE', 'RA000291', 'HRB 1234')), LEI: other };
    await loadGleif([berlin, { ...munich, 'Entity.LegalName': 'Nordlicht AG' }], '2026-01-01');
    expect(await countRows(database.sql, 'companies')).toBe(2);
    await loadGleif([munich], '2026-01-02');
    expect(await countRows(database.sql, 'companies')).toBe(2);
  });

  it('is the one of companies, not of charities', async () => {
    const charity = entity(inRegister('GB', 'RA000589', '1089464'));
    const company = { ...entity(inRegister('GB', 'RA000585', '1089464')), LEI: other };
    await loadGleif([charity, company], '2026-01-01');
    expect(await companyOf(database.sql, 'gleif', one)).toMatchObject({ registryNumber: null });
    expect(await companyOf(database.sql, 'gleif', other)).toMatchObject({ registryCountry: 'GB' });
  });
});

const unitHeader =
  `siren,statutDiffusionUniteLegale,dateCreationUniteLegale,sigleUniteLegale,prenomUsuelUniteLegale,
  trancheEffectifsUniteLegale,etatAdministratifUniteLegale,nomUniteLegale,nomUsageUniteLegale,denominationUniteLegale,
  categorieJuridiqueUniteLegale,activitePrincipaleUniteLegale,nomenclatureActivitePrincipaleUniteLegale`.split(
    /,\s*/,
  );
const unit = (more: Record<string, string> = {}) => ({
  siren: '732829320',
  statutDiffusionUniteLegale: 'O',
  dateCreationUniteLegale: '1955-01-01',
  trancheEffectifsUniteLegale: '22',
  etatAdministratifUniteLegale: 'A',
  denominationUniteLegale: 'EXEMPLE',
  categorieJuridiqueUniteLegale: '5710',
  activitePrincipaleUniteLegale: '62.01Z',
  nomenclatureActivitePrincipaleUniteLegale: 'NAFRev2',
  ...more,
});
const seatHeader =
  `siren,nic,siret,statutDiffusionEtablissement,etablissementSiege,numeroVoieEtablissement,
  typeVoieEtablissement,libelleVoieEtablissement,codePostalEtablissement,libelleCommuneEtablissement`.split(
    /,\s*/,
  );
const seat = (more: Record<string, string> = {}) => ({
  siren: '732829320',
  nic: '00074',
  siret: '73282932000074',
  statutDiffusionEtablissement: 'O',
  etablissementSiege: 'true',
  numeroVoieEtablissement: '8',
  typeVoieEtablissement: 'RUE',
  libelleVoieEtablissement: 'NEUVE',
  codePostalEtablissement: '69001',
  libelleCommuneEtablissement: 'LYON',
  ...more,
});
const plain = (header: readonly string[], rows: readonly Record<string, string>[]) =>
  csvOf(header, rows).replaceAll('"', '');
const loadUnits = (rows: readonly Record<string, string>[], asOf: string) =>
  importText(database.sql, {
    source: 'auto',
    name: 'units.csv',
    text: plain(unitHeader, rows),
    asOf,
  });
const loadSeats = (rows: readonly Record<string, string>[], asOf: string) =>
  importText(database.sql, {
    source: 'auto',
    name: 'seats.csv',
    text: plain(seatHeader, rows),
    asOf,
  });

describe('legal units of SIRENE', () => {
  it('take the address of the seat, whichever file comes first, and leave branches out', async () => {
    await loadSeats([seat(), seat({ nic: '00082', etablissementSiege: 'false' })], '2026-01-01');
    expect(await countRows(database.sql, 'companies')).toBe(0);
    await loadUnits([unit()], '2026-01-01');
    expect(await companyOf(database.sql, 'sirene', 'unit:732829320')).toMatchObject({
      name: 'EXEMPLE',
      registryNumber: '732829320',
      street: '8 RUE NEUVE',
      postcode: '69001',
      headCount: '100-199',
      sicCodes: ['62.01Z'],
    });
    expect(await countRows(database.sql, 'companies')).toBe(1);
  });

  it('take away what a later file hides, and never store [ND]', async () => {
    await loadUnits(
      [unit(), unit({ siren: '552100554', denominationUniteLegale: 'RESTE' })],
      '2026-01-01',
    );
    await loadSeats([seat()], '2026-01-01');
    const hidden = unit({
      statutDiffusionUniteLegale: 'P',
      denominationUniteLegale: '[ND]',
      nomUniteLegale: '[ND]',
    });
    const rows = [hidden, unit({ siren: '552100554', denominationUniteLegale: 'RESTE' })];
    expect(await loadUnits(rows, '2026-02-01')).toMatchObject({
      rows: 2,
      same: 1,
      suppressed: 1,
      gone: 1,
    });
    const [left] = await database.sql`
      select (select count(*) from companies) as companies,
        (select count(*) from source_records where record like '%ND%') as hidden,
        (select count(*) from company_identifiers where value like '%732829320%') as found`;
    expect(left).toEqual({ companies: 1, hidden: 0, found: 0 });
  });

  it('stay hidden when the import that hid them is undone, until a later file shows them', async () => {
    const trader = unit({
      denominationUniteLegale: '',
      categorieJuridiqueUniteLegale: '1000',
      prenomUsuelUniteLegale: 'ADA',
      nomUniteLegale: 'LARK',
    });
    const late = { ...trader, siren: '552100554' };
    const hide = (one: Record<string, string>) => {
      const [nomUniteLegale, prenomUsuelUniteLegale] = ['[ND]', '[ND]'];
      return { ...one, statutDiffusionUniteLegale: 'P', nomUniteLegale, prenomUsuelUniteLegale };
    };
    const names = () => database.sql`select name from companies`;
    await loadUnits([trader], '2026-01-01');
    expect(await names()).toEqual([{ name: 'ADA LARK' }]);
    const { import_id: imported } = await loadUnits([trader, late].map(hide), '2026-02-01');
    const { undo } = await showImport(database.sql, must(imported, 'import'));
    expect(undo).toMatchObject({ restored: 0, ended: 0 });
    await undoImport(database.sql, must(imported, 'import'));
    expect(await names()).toEqual([]);
    await loadUnits([trader, late], '2026-01-02');
    expect(await names()).toEqual([]);
    const { import_id: shown } = await loadUnits([trader], '2026-03-01');
    expect(await names()).toEqual([{ name: 'ADA LARK' }]);
    await undoImport(database.sql, must(shown, 'import'));
    expect(await names()).toEqual([]);
  });

  it('keep a unit whose row has other cells than the header', async () => {
    const rows = [unit(), unit({ siren: '552100554' })];
    await loadUnits(rows, '2026-01-01');
    const text = plain(unitHeader, rows).replace(/^552100554.*$/m, '$&,one more');
    const file = { source: 'auto', name: 'units.csv', text, asOf: '2026-02-01' } as const;
    expect(await importText(database.sql, file)).toMatchObject({ same: 1, rejected: 1, gone: 0 });
    expect(await countRows(database.sql, 'companies')).toBe(2);
  });

  it('join the entity of the golden copy by their number, and keep the trusted values', async () => {
    await loadGleif([entity()], '2026-03-01');
    const report = await loadUnits([unit()], '2026-01-01');
    expect(report).toMatchObject({ new: 1, merged: 1 });
    const [company, ...others] = await database.sql`select * from companies`;
    expect(others).toEqual([]);
    expect(company).toMatchObject({
      name: 'EXEMPLE',
      aliases: ['Exemple SA'],
      locality: 'Lyon, FR',
    });
  });
});
