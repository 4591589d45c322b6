/**
 * Checks whether a list's own name or company agrees with the record that an identifier found. Mailboxes are
 * reassigned and phones are shared: then the identifier is right and the person is another. Runs for every matched
 * row, so it reads the few cells it needs from the record's bytes.
 */
import { companyFields, personFields, type RecordField } from '../graph/fields.ts';
import { endOfCell, startOfCell } from '../graph/record.ts';
import { countryCode, countryOfPlace } from '../identifiers/country.ts';
import { standsForNone } from '../identifiers/shared-mailbox.ts';
import { must } from '../lib/assert.ts';
import { fold } from '../lib/fold.ts';
import { readCompanyName } from '../match/company-words.ts';
import { type CompanyLevel, relateCompanies } from '../match/compare-companies.ts';
import { type FamilyLevel, relateNames, storedName } from '../match/compare-persons.ts';
import {
  hasLostLetter,
  isPartOfPersonName,
  readPersonName,
  splitWords,
} from '../match/person-name.ts';
import type { GivenLevel } from '../match/relate-given.ts';
import { compareCompanyNames, foldCompany } from './compare-company-names.ts';
import { comparePersonNames } from './compare-person-names.ts';
import type { MatchData, RecordBytes } from './match-data.ts';
import { type Agreement, type Decision, noMatch } from './outcomes.ts';

/** Names in a row besides its identifiers; absent and empty are the same. */
export interface ListedNames {
  personName?: string;
  companyName?: string;
  /** ISO 3166 alpha-2 country, and name of a city, for companies. */
  country?: string | null;
  city?: string;
}

/**
 * Compares the listed names with a record. `yes`: the name is the record's. `no`: it is clearly another's.
 * `unknown`: there is nothing to compare, or the names may match.
 *
 * For a person the listed name decides, if there is one to compare; otherwise a current or former employer is a
 * `yes`. Another company is never a `no`, since people change jobs. For a company its name, aliases and former
 * names count, and a name that its domains contain is never a `no`. A listed company is ignored for a person whose
 * name differs: mailboxes are reassigned inside one company. A company that was found by its
 * name agrees when its country or its city does: its name proves nothing more. An employer does not say whose an address
 * is that stands for none: its colleagues have the same. Pure and total.
 * @param decision the identifier that found the record, and its value
 */
export function agrees(
  listed: ListedNames,
  match: MatchData,
  { by, value }: Pick<Decision, 'by' | 'value'> = noMatch,
): Agreement {
  if (match.person !== null) {
    return (
      agreesWithName(listed, match.person) ??
      (standsForNone(value) ? 'unknown' : agreesWithEmployer(listed, match.person))
    );
  }
  const { companyName = '' } = listed;
  if (match.company === null || companyName === '') return 'unknown';
  if (kindsByName.has(by)) return agreesWithPlace(listed, match.company);
  return agreesWithCompany(companyName, match.company);
}

/** A cell of a record; the cells of one read are in the record's order. */
interface Cell {
  index: number;
  isJson: boolean;
}

function cellsOf(fields: readonly RecordField[], ...names: string[]): Cell[] {
  return names.map((name) => {
    const index = fields.findIndex((field) => field.name === name);
    const field = must(fields[index], `field ${name}`);
    return { index, isJson: field.type === 'json' };
  });
}

const personNames = cellsOf(personFields, 'name', 'surname');
const employers = cellsOf(
  personFields,
  'pastCompany',
  'pastCompanies',
  'company',
  'currentCompanies',
);
const companyNames = cellsOf(companyFields, 'name');
const otherNames = cellsOf(companyFields, 'aliases', 'formerNames');
const hosts = cellsOf(companyFields, 'domain', 'domains');

const kindsByName: ReadonlySet<string> = new Set(['name', 'alias_name', 'former_name']);
const places = cellsOf(companyFields, 'registryCountry', 'locality', 'cities', 'countries');

/** Returns the ISO 3166 alpha-2 country of a company's record; null when it is not known. */
export function countryOfCompany(record: RecordBytes): string | null {
  const [registry = '', locality = '', , countries = ''] = readCells(record, places);
  const [named = ''] = countries === '' ? [] : namesInJson(JSON.parse(countries));
  return countryCode(named) ?? countryOfPlace(locality) ?? countryCode(registry);
}

/** Returns all names of a company's record: the present one, the further and the former ones. */
export function namesOfCompany(record: RecordBytes): string[] {
  return readNames(record, [...companyNames, ...otherNames]);
}

/** A known country decides; otherwise the city may agree. */
function agreesWithPlace(
  { country = null, city = '' }: ListedNames,
  record: RecordBytes,
): Agreement {
  const stored = countryOfCompany(record);
  if (country !== null && stored !== null) return country === stored ? 'yes' : 'no';
  const [, locality = '', cities = ''] = readCells(record, places);
  const names = cities === '' ? [] : namesInJson(JSON.parse(cities));
  const [first = ''] = locality.split(',');
  const listed = foldPlace(city);
  const isHere = listed !== '' && [...names, first].some((name) => foldPlace(name) === listed);
  return isHere ? 'yes' : 'unknown';
}

function foldPlace(name: string): string {
  return fold(name)
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/** Null when the row or the record has no name to compare. */
function agreesWithName(
  { personName: name = '' }: ListedNames,
  record: RecordBytes,
): Agreement | null {
  if (name === '') return null;
  if (isSameName(name, record)) return 'yes';
  const [given = '', family = ''] = readCells(record, personNames);
  if (isOfOtherGeneration(name, given, family)) return 'no';
  const verdict = comparePersonNames(name, given, family);
  if (verdict === 'yes' && isPartOfPersonName(name)) return 'unknown';
  if (verdict !== 'yes' && isLikelyName(name, given, family)) return 'yes';
  return verdict === 'no' && mayBePartOf(name, `${given} ${family}`) ? 'unknown' : verdict;
}

/** True for a name of which letters are missing, and of which a part may be of a stored one: `Jo… Wi…`, `Bj?rn`. */
function mayBePartOf(listed: string, stored: string): boolean {
  const whole = splitWords(stored);
  const isPart = isPartOfPersonName(listed);
  if (isPart && splitWords(listed).some((word) => whole.some((other) => other.startsWith(word))))
    return true;
  const pieces = hasLostLetter(listed) ? listed.split(/[?\ufffd]+/).flatMap(splitWords) : [];
  return pieces.some((piece) => piece.length > 1 && whole.some((word) => word.includes(piece)));
}

function agreesWithEmployer({ companyName = '' }: ListedNames, record: RecordBytes): Agreement {
  const company = companyName === '' ? null : foldCompany(companyName);
  if (company === null) return 'unknown';
  const names = readNames(record, employers);
  return names.some((employer) => compareFolded(company, employer) === 'yes') ? 'yes' : 'unknown';
}

const SPACE = 0x20;
const LETTER_A = 0x41;
const LETTER_Z = 0x5a;
const ASCII_END = 0x80;

/**
 * Compares with the given and the family name of a record, in any case, without making strings of them: so it is for
 * most rows of a list. False for any text that is not ASCII, which the general comparison reads.
 */
function isSameName(listed: string, { bytes, from, to }: RecordBytes): boolean {
  const [given, family] = personNames;
  const givenFrom = startOfCell(bytes, from, to, given?.index ?? 0);
  const givenTo = endOfCell(bytes, givenFrom, to);
  const familyFrom = startOfCell(
    bytes,
    givenTo + 1,
    to,
    (family?.index ?? 0) - (given?.index ?? 0) - 1,
  );
  const familyTo = endOfCell(bytes, familyFrom, to);
  const space = givenTo - givenFrom;
  if (space === 0 || familyFrom >= familyTo) return false;
  if (listed.length !== space + 1 + familyTo - familyFrom) return false;
  if (listed.charCodeAt(space) !== SPACE) return false;
  return (
    isSameText(listed, 0, bytes, givenFrom, givenTo) &&
    isSameText(listed, space + 1, bytes, familyFrom, familyTo)
  );
}

function isSameText(
  text: string,
  at: number,
  bytes: Uint8Array,
  from: number,
  to: number,
): boolean {
  for (let place = from; place < to; place++) {
    const byte = bytes[place] ?? 0;
    const code = text.charCodeAt(at + place - from);
    if (byte >= ASCII_END || lowerCase(code) !== lowerCase(byte)) return false;
  }
  return true;
}

/** Of an ASCII code; any other is returned as it is. */
function lowerCase(code: number): number {
  return code >= LETTER_A && code <= LETTER_Z ? code + SPACE : code;
}

const likelyFamily: ReadonlySet<string> = new Set<FamilyLevel>(['equal', 'sound', 'slip']);
const likelyGiven: ReadonlySet<string> = new Set<GivenLevel>([
  'equal',
  'other',
  'nickname',
  'sound',
  'initial',
]);

const GENERATION = /\b(?:jn?r|junior|sn?r|senior|i{2,3}|iv)\b/i;
const ofTwo: ReadonlySet<string> = new Set(['jr', 'sr']);

/** Father and son: `Jr` and `Sr`, or `II` and `III`. `Jr` may be the second. */
function isOfOtherGeneration(listed: string, given: string, family: string): boolean {
  if (!GENERATION.test(listed)) return false;
  const row = readPersonName(listed);
  const { generation } = storedName(readPersonName(given, true), readPersonName(family, true));
  if (typeof row === 'string' || row.generation === '' || generation === '') return false;
  return row.generation !== generation && ofTwo.has(row.generation) === ofTwo.has(generation);
}

/** Compares as a likely match does: short forms of given names, transcriptions, one slip. */
function isLikelyName(listed: string, given: string, family: string): boolean {
  const row = readPersonName(listed);
  if (typeof row === 'string') return false;
  const stored = storedName(readPersonName(given, true), readPersonName(family, true));
  const relation = relateNames(row, stored);
  return (
    likelyFamily.has(relation.family) &&
    likelyGiven.has(relation.given) &&
    relation.middle !== 'differ'
  );
}

/** Levels of names that are one company's. */
const likelyCompany: ReadonlySet<string> = new Set<CompanyLevel>([
  'same',
  'equal',
  'order',
  'spaced',
  'abbreviated',
  'slip',
]);

/** Compares as a likely match does; null when nothing speaks for one company nor against it. */
function agreesByWords(name: string, stored: readonly string[]): Agreement | null {
  const listed = readCompanyName(name);
  if (listed === null) return null;
  const levels = stored.flatMap((text) => {
    const read = readCompanyName(text);
    return read === null ? [] : [relateCompanies(listed, read).level];
  });
  if (levels.some((level) => likelyCompany.has(level))) return 'yes';
  return levels.every((level) => level === 'none') ? null : 'unknown';
}

/** Returns true for a name that is clearly another company's than the record's. */
export function isOtherCompany(name: string, record: RecordBytes): boolean {
  return agreesWithCompany(name, record) === 'no';
}

function agreesWithCompany(name: string, record: RecordBytes): Agreement {
  const [stored = ''] = readCells(record, companyNames);
  if (stored === name) return 'yes';
  const listed = foldCompany(name);
  if (listed === null) return 'unknown';
  const first = compareFolded(listed, stored);
  if (first === 'yes') return 'yes';
  const others = readNames(record, otherNames);
  const verdicts = others.map((other) => compareFolded(listed, other));
  if (verdicts.includes('yes')) return 'yes';
  const byWords = agreesByWords(name, [stored, ...readNames(record, otherNames)]);
  if (byWords !== null) return byWords;
  if (first !== 'no' || verdicts.includes('unknown')) return 'unknown';
  const isHeld = readNames(record, hosts).some((host) => isInHost(listed, host));
  return isHeld ? 'unknown' : 'no';
}

function compareFolded(listed: string, stored: string): Agreement {
  const folded = stored === '' ? null : foldCompany(stored);
  return folded === null ? 'unknown' : compareCompanyNames(listed, folded);
}

const WORD_CHARACTERS_MIN = 4;

/** Returns true when a host contains the name or a long word of it: `Acme Tools` in `acmetools.com`. */
function isInHost(folded: string, host: string): boolean {
  const plain = host.replace(/[^a-z0-9.]/g, '');
  return (
    plain.includes(folded.replaceAll(' ', '')) ||
    folded.split(' ').some((word) => word.length >= WORD_CHARACTERS_MIN && plain.includes(word))
  );
}

/** Returns all names in some cells: texts, and the objects and arrays of JSON cells. */
function readNames(record: RecordBytes, cells: readonly Cell[]): string[] {
  const names: string[] = [];
  for (const [at, text] of readCells(record, cells).entries()) {
    if (text === '') continue;
    if (cells[at]?.isJson === true) names.push(...namesInJson(JSON.parse(text)));
    else names.push(text);
  }
  return names;
}

/** Returns the names of `{id, name}`, of an array of such, or of an array of texts. */
function namesInJson(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(namesInJson);
  return isNamed(value) && typeof value.name === 'string' ? [value.name] : [];
}

function isNamed(value: unknown): value is { name: unknown } {
  return typeof value === 'object' && value !== null && 'name' in value;
}

/** Returns the texts of some cells, in their order: one pass over the bytes up to the last of them. */
function readCells({ bytes, from, to }: RecordBytes, cells: readonly Cell[]): string[] {
  const texts: string[] = [];
  let index = 0;
  let start = from;
  for (const cell of cells) {
    for (; index < cell.index && start <= to; index++) start = endOfCell(bytes, start, to) + 1;
    const end = endOfCell(bytes, start, to);
    texts.push(start < end ? bytes.toString('utf8', start, end) : '');
  }
  return texts;
}
