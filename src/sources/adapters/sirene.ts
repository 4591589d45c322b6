/**
 * SIRENE, France: `StockUniteLegale_utf8.zip` (legal units) and `StockEtablissement_utf8.zip`, of which only the seats
 * are read, for the address. Monthly. The columns differ between releases, so they are found by name.
 */
import { type SourceRow, seenOf } from '../../core/graph/sources/source-record.ts';
import type { Adapter } from '../adapter.ts';
import { type CsvRow, readCsvRows, rejectUnreadable, unevenReason } from '../csv-rows.ts';
import type { SourcePart } from '../source-files.ts';
import { compact, isoDate, joined, joinedBy, textOf } from '../values.ts';

const UNIT = 'unit:';
const SEAT = 'seat:';
/** Legal category of a natural person who trades. */
const NATURAL_PERSON = '1000';
/** Hidden on request of the person or company. */
const HIDDEN = 'P';
const CURRENT_CODES = 'NAFRev2';

/** `trancheEffectifsUniteLegale`. */
const headCounts: Readonly<Record<string, string>> = {
  '00': '0',
  '01': '1-2',
  '02': '3-5',
  '03': '6-9',
  '11': '10-19',
  '12': '20-49',
  '21': '50-99',
  '22': '100-199',
  '31': '200-249',
  '32': '250-499',
  '41': '500-999',
  '42': '1000-1999',
  '51': '2000-4999',
  '52': '5000-9999',
  '53': '10000+',
};

const unitColumns = [
  'siren',
  'statutDiffusionUniteLegale',
  'etatAdministratifUniteLegale',
  'denominationUniteLegale',
  'nomUniteLegale',
  'categorieJuridiqueUniteLegale',
];
const seatColumns = [
  'siren',
  'nic',
  'statutDiffusionEtablissement',
  'etablissementSiege',
  'libelleVoieEtablissement',
  'codePostalEtablissement',
  'libelleCommuneEtablissement',
];

export const sirene: Adapter = {
  name: 'sirene',
  recognise: ({ text }) => {
    if (/^\ufeff?siren,statutDiffusionUniteLegale,/.test(text)) {
      return { snapshotOf: [UNIT], read: (parts) => readRows(parts, UNIT, unitColumns, readUnit) };
    }
    if (/^\ufeff?siren,nic,siret,/.test(text)) {
      return { snapshotOf: [SEAT], read: (parts) => readRows(parts, SEAT, seatColumns, readSeat) };
    }
    return null;
  },
};

async function* readRows(
  parts: AsyncIterable<SourcePart>,
  prefix: string,
  required: readonly string[],
  readRow: (row: CsvRow, siren: string) => SourceRow | null,
): AsyncGenerator<SourceRow[]> {
  for await (const part of parts) {
    for await (const rows of readCsvRows(part, { delimiter: ',', required })) {
      yield rows.map((row) => checked(row, prefix, readRow)).filter((row) => row !== null);
    }
  }
}

function checked(
  row: CsvRow,
  prefix: string,
  readRow: (row: CsvRow, siren: string) => SourceRow | null,
): SourceRow | null {
  const mayBeHidden = () => row.cells().some((cell) => cell.split(/[,"]/).includes(HIDDEN));
  const unreadable = rejectUnreadable(row, (text) => {
    const sirens = mayBeHidden() ? [] : (text.match(/\b\d{9}\b/g) ?? []);
    return sirens.map((siren) => prefix + siren);
  });
  if (unreadable !== null) return unreadable;
  const { line } = row;
  const siren = row.get('siren').trim();
  if (!isSiren(siren)) return { line, reason: 'not_a_siren', field: 'siren', source: row.source() };
  const reason = unevenReason(row);
  if (reason !== null) {
    const seen = seenOf(mayBeHidden() ? undefined : prefix + siren);
    return { line, reason, source: row.source(), ...seen };
  }
  return readRow(row, siren);
}

function readUnit(row: CsvRow, siren: string): SourceRow {
  const { line } = row;
  const unit = (column: string) => shown(row.get(`${column}UniteLegale`));
  if (unit('statutDiffusion') === HIDDEN) {
    return {
      line,
      optedOut: [],
      keys: [
        ['company', UNIT + siren],
        ['company', SEAT + siren],
      ],
    };
  }
  const isNatural = unit('categorieJuridique') === NATURAL_PERSON;
  const person = joinedBy(
    ' ',
    unit('prenomUsuel') ?? unit('prenom1'),
    unit('nomUsage') ?? unit('nom'),
  );
  const name = isNatural ? person : (unit('denomination') ?? person);
  if (name === undefined) {
    return {
      line,
      reason: 'missing',
      field: 'denominationUniteLegale',
      seen: [UNIT + siren],
      source: row.source(),
    };
  }
  const usual = [1, 2, 3].map((index) => shown(row.get(`denominationUsuelle${index}UniteLegale`)));
  const code = unit('activitePrincipale');
  const isCurrent = unit('nomenclatureActivitePrincipale') === CURRENT_CODES;
  const record = compact({
    name,
    aliases: [unit('sigle'), ...usual].filter((alias) => alias !== undefined && alias !== name),
    registryNumber: siren,
    registryCountry: 'FR',
    founded: isoDate(unit('dateCreation')),
    headCount: headCounts[unit('trancheEffectifs') ?? ''],
    sicCodes: isCurrent && code !== undefined ? [code] : [],
    status: unit('etatAdministratif') === 'C' ? 'Dissolved' : 'Active',
    _country: 'FR',
  });
  return { line, records: [{ entity: 'company', key: UNIT + siren, record }] };
}

/** Returns null for a branch: it is no company of its own. */
function readSeat(row: CsvRow, siren: string): SourceRow | null {
  const { line } = row;
  const seat = (column: string) => shown(row.get(`${column}Etablissement`));
  if (row.get('etablissementSiege') !== 'true') return null;
  if (seat('statutDiffusion') === HIDDEN) {
    return { line, optedOut: [], keys: [['company', SEAT + siren]] };
  }
  const town = seat('libelleCommune');
  const record = compact({
    registryNumber: siren,
    registryCountry: 'FR',
    street: joined(
      seat('complementAdresse'),
      joinedBy(
        ' ',
        seat('numeroVoie'),
        seat('indiceRepetition'),
        seat('typeVoie'),
        seat('libelleVoie'),
      ),
    ),
    postcode: seat('codePostal'),
    locality: town === undefined ? undefined : `${town}, France`,
    _country: 'FR',
    _city: town,
  });
  return { line, records: [{ entity: 'company', key: SEAT + siren, record }] };
}

/** A value that is shown: `[ND]` stands for one that is not. */
function shown(cell: string): string | undefined {
  return cell.trim() === '[ND]' ? undefined : textOf(cell);
}

/** Nine digits with the check digit of Luhn. */
function isSiren(text: string): boolean {
  if (!/^\d{9}$/.test(text)) return false;
  const sum = [...text].reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 1 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}
