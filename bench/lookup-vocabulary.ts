/**
 * Names to look up, as many as in a large graph: 50,000 job titles and 150,000 cities. Generated from syllables
 * and job words, so that they share prefixes, words and near misses like real ones.
 */
import { drawNumber } from '../samples/generate/draw-number.ts';
import { must } from '../src/core/lib/assert.ts';

export interface NamedCity {
  name: string;
  /** From 1 to `lookupCountries.length`. */
  countryId: number;
  /** From 1 to ten times that: ten regions a country. */
  regionId: number;
}

export const lookupCountries = `United States|United Kingdom|Germany|France|Spain|Italy|Poland|India
Brazil|Mexico|Canada|Australia|Japan|Netherlands|Switzerland|Türkiye|Sweden|Portugal|Nigeria
Côte d’Ivoire`.split(/[|\n]/);

const levels = `|Senior|Junior|Lead|Principal|Chief|Assistant|Associate|Deputy|Head|Interim|Regional
Global|Group|Staff|Trainee|Vice President|Executive|Acting|Freelance`.split(/[|\n]/);
const subjects =
  `Software|Sales|Marketing|Data|Finance|Product|Project|Customer|Human Resources|Legal
Operations|Research|Quality|Security|Supply Chain|Procurement|Clinical|Electrical|Mechanical|Civil
Network|Cloud|Content|Brand|Digital|Risk|Compliance|Tax|Treasury|Audit|Payroll|Learning|Store|Plant
Process|Safety|Energy|Facilities|Media|Design|Graphic|Front-End|Back-End|C++|.NET|Machine Learning
Business|Event|Travel|Investment|Portfolio|Credit|Claims|Policy|Public Affairs|Education`.split(
    /[|\n]/,
  );
const roles =
  `Manager|Engineer|Director|Analyst|Consultant|Specialist|Coordinator|Officer|Administrator
Architect|Developer|Advisor|Assistant|Technician|Partner|Planner|Scientist|Supervisor|Controller
Strategist|Trainer|Buyer|Auditor|Designer|Editor|Inspector|Representative|Agent`.split(/[|\n]/);
const areas =
  `|EMEA|APAC|Latin America|North America|Nordics|Retail|Healthcare|Public Sector|Banking
Insurance|Automotive|Start-ups|Night Shift|Part Time|Contract|Remote|Automation|Platform|Growth`.split(
    /[|\n]/,
  );

const before = `||||||Saint-|San |Santa |New |North |South |West |East |Bad |Le |La |Los |El |Upper |Lower
Port |Mount |Lake |Fort |Villa |Ober|Nieder|Grand |||||||||||||`;
const beginnings =
  `an|ba|be|bra|ca|che|co|da|den|du|el|fa|fre|ga|gre|ha|her|in|ka|kir|kra|la|len|lo|ma
mar|mon|na|no|ol|or|pa|pe|pra|qui|ra|ri|ro|sa|sche|so|spring|sta|ta|thor|to|ul|va|vel|wa|wil|wo|ya
zü|zo|šu|ño|örs|łó`.split(/[|\n]/);
const middles =
  `ba|ber|bi|ca|den|do|fa|ga|go|ha|ja|ka|la|le|li|lo|ma|me|mi|na|ne|ni|no|ra|re|ri|ro|sa|se
si|ta|te|ti|to|va|ve|vi|za|ll|nn|ss|ck`.split(/[|\n]/);
const endings =
  `burg|berg|ville|ton|ham|field|ford|stadt|dorf|heim|ovo|ice|ów|aux|ac|ano|ella|ito|os|as
ara|ia|pur|abad|nagar|kawa|shima|holm|sund|vik|by|um|en|an|er|ingen|mouth|port|cester|wick`.split(
    /[|\n]/,
  );
const cjk = [...'東京大阪北海南山川田中村上下西名古屋神戸広島福岡仙台千葉新'];

/** Job titles, all different. */
export function makeTitles(count: number): string[] {
  return makeDistinct(count, (id) => {
    const pick = picker(id);
    // Names of teams and products are the rare words of titles.
    const area = drawNumber(id, 95, 6) === 0 ? latinName(pick) : pick(areas);
    return [pick(levels), pick(subjects), pick(roles), area].filter(Boolean).join(' ');
  });
}

/** Cities, all different with their regions; many share a name. */
export function makeCities(count: number): NamedCity[] {
  const seen = new Set<string>();
  const cities: NamedCity[] = [];
  for (let id = 1; cities.length < count; id++) {
    const pick = picker(id);
    const countryId = 1 + (drawNumber(id, 91, 20) * drawNumber(id, 92, 20)) / 20;
    const country = Math.floor(countryId);
    const regionId = (country - 1) * 10 + 1 + drawNumber(id, 93, 10);
    const name = drawNumber(id, 94, 100) === 0 ? cjkName(id) : latinName(pick);
    if (seen.has(`${name}/${regionId}`)) continue;
    seen.add(`${name}/${regionId}`);
    cities.push({ name, countryId: country, regionId });
  }
  return cities;
}

/** The number of people with the value at this position: few values have many, most have few. */
export function drawPeople(id: number): number {
  const rank = 1 + drawNumber(id, 71, 200_000);
  return Math.floor(400_000 / rank) + drawNumber(id, 72, 5);
}

function latinName(pick: (list: readonly string[]) => string): string {
  const middle = pick(['', '', pick(middles), pick(middles), pick(middles) + pick(middles)]);
  const stem = pick(beginnings) + middle + pick(endings);
  const name = pick(prefixes) + stem.charAt(0).toUpperCase() + stem.slice(1);
  return name + pick(['', '', '', '', '', '', '', ' am See', ' de la Sierra', '-sur-Mer']);
}

const prefixes = before.split(/[|\n]/);

function cjkName(id: number): string {
  return [0, 1, 2].map((place) => cjk[drawNumber(id, 60 + place, cjk.length)]).join('');
}

function picker(id: number): (list: readonly string[]) => string {
  let salt = 0;
  return (list) => must(list[drawNumber(id, ++salt, list.length)], 'an entry of the list');
}

function makeDistinct(count: number, make: (id: number) => string): string[] {
  const found = new Set<string>();
  for (let id = 1; found.size < count; id++) found.add(make(id));
  return [...found];
}
