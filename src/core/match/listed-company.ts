/** Reads the company's name in a cell of a list, which people fill in as they like. */
import { isPartOfName } from '../identifiers/company-name.ts';
import {
  type CompanyName,
  formOf,
  NAME_CHARACTERS_MAX,
  readCompanyName,
  WORDS_MAX,
} from './company-words.ts';

/** Reasons why a cell is not a company's name. */
export type NotACompany = 'empty_name' | 'not_a_name' | 'name_too_long';

/** Words of a company column that name no company, alone or together. */
const placeholders = new Set(
  `test unknown none null nan na nil tbc tbd self employed selfemployed freelance freelancer freelancing unemployed retired
  student confidential selbststandig selbstandig freiberufler freiberuflich rentner arbeitslos privat unbekannt keine inconnu
  aucune retraite etudiant autonomo jubilado estudiante ninguna desconocido nessuna pensionato zzp zzper onbekend`.split(
    /\s+/,
  ),
);
/** Legal forms that are no name themselves, as `SAS` and `AB` may be. */
const formsAlone = new Set('ltd inc corp co plc llc llp gmbh'.split(' '));
const ADDRESS = /@|:\/\//;

/** Returns the name, or the reason why the cell has none. */
export function readListedCompany(text: string): CompanyName | NotACompany {
  const listed = text.trim();
  if (listed === '') return 'empty_name';
  if (ADDRESS.test(listed)) return 'not_a_name';
  if (listed.length > NAME_CHARACTERS_MAX || listed.split(/\s+/).length > WORDS_MAX) {
    return 'name_too_long';
  }
  if (isPartOfName(listed)) return 'not_a_name';
  const name = readCompanyName(text);
  if (name === null || name.joined.length < 2) return 'not_a_name';
  if (formsAlone.has(formOf.get(name.whole) ?? '')) return 'not_a_name';
  return namesNoCompany(name) ? 'not_a_name' : name;
}

/** True for a name of words that people write who have no company: `Self-employed`, `Retired`. */
export function namesNoCompany({ whole }: CompanyName): boolean {
  return whole.split(' ').every((word) => placeholders.has(word));
}
