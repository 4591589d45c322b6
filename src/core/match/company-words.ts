/**
 * Reads a company's name: legal forms apart, abbreviations spelled out, words in Latin letters. The forms stay known,
 * because `Hovis Holdings` is not `Hovis`, and a form tells the country when nothing else does.
 */
import { remember } from '../lib/remember.ts';
import { isAscii, toLatin } from './latin.ts';

export interface CompanyName {
  /** Words without legal forms, articles and conjunctions, in order; all words when nothing else is left. */
  words: readonly string[];
  /** Initials and numbers that are not among the words: `e` of `E Smith and Sons`, but not of `Rossi e Figli`. */
  letters: string;
  /** Legal forms at the end or the beginning, in one spelling each. */
  forms: readonly string[];
  /** The words without spaces. */
  joined: string;
  /** Folded text with everything, legal forms in one spelling and last. */
  whole: string;
  /** The folded text without spaces. */
  solid: string;
}

export const NAME_CHARACTERS_MAX = 300;
/** Employers repeat in a list, and more so among the candidates of its rows. */
const TEXTS_KEPT = 20_000;
export const WORDS_MAX = 40;

const list = (text: string): readonly string[] => text.trim().split(/\s+/);
const set = (text: string): ReadonlySet<string> => new Set(list(text));

/** One spelling of each legal form, then the others. A slash joins the words of one. */
const FORMS = `
ltd limited ltda/? ltd/ltd
inc incorporated incorporation
corp corporation
co company
plc public/limited/company public/limited
llc limited/liability/company l/l/c
llp limited/liability/partnership
lp limited/partnership
cic community/interest/company
cio
gmbh gesellschaft/mit/beschrankter/haftung ggmbh gesmbh mbh
ag aktiengesellschaft
kg kommanditgesellschaft
kgaa
ohg
ug unternehmergesellschaft
ev eingetragener/verein
eg
se societas/europaea
sa societe/anonyme sociedad/anonima sociedade/anonima
sas societe/par/actions/simplifiee sasu
sarl societe/a/responsabilite/limitee
sca
spa societa/per/azioni
srl societa/a/responsabilita/limitata
sl sociedad/limitada slu
sau
sab sab/de/cv
sgps
bv besloten/vennootschap bvba
nv naamloze/vennootschap
ab aktiebolag
as aksjeselskap aktieselskab
asa allmennaksjeselskap
aps anpartsselskab
oy osakeyhtio
oyj
kk kabushiki/kaisha
pty proprietary
pvt private
pte
bhd berhad
sdn sendirian
tbk
pt
kft
zrt
nyrt
sro
spzoo sp/z/oo spolka/z/ograniczona/odpowiedzialnoscia
doo d/o/o
dd
ood
ead
ooo
oao
pao
zao
pjsc
ojsc
jsc joint/stock/company
psc
qpsc
saog
ltda limitada
eirl
uab
sia
ou
hf
ehf
as/a
aş anonim/sirketi anonim/sirket
cv de/cv
publ
asbl
vzw
kgk
gk godo/kaisha
`;
/** Spellings of legal forms, with the one of each form. */
export const formOf = new Map<string, string>();
for (const line of FORMS.trim().split('\n')) {
  const [form = '', ...spellings] = line.split(' ');
  for (const spelling of [form, ...spellings]) formOf.set(spelling.replaceAll('/', ' '), form);
}
/** The most words of a form by its last one: most names end with none of these, and are not searched for forms. */
const formWordsMax = new Map<string, number>();
for (const form of formOf.keys()) {
  const words = form.split(' ');
  const last = words.at(-1) ?? '';
  formWordsMax.set(last, Math.max(words.length, formWordsMax.get(last) ?? 0));
}
/** Forms that stand before a name as well. */
const leadingForms = set('pt ooo oao pao zao uab sia ab oy sa');

const dropped = set(`
  the of for and & und et y e i a an de la le les los las el du des del della dello di da do dos das der die
  den des im in zu van het og och ja w na en at cha
`);

/** Abbreviations in one sense, by what they stand for. */
const ABBREVIATIONS = `
university univ uni universitat universitaet universite universita universidad universidade universiteit universitet univerzitet univerzita uniwersytet universitas universite universitatea universiteti universitesi universitetet universitaria universitario university daigaku daxue egyetem yliopisto universitaire universitaires universitat
international intl internat internl
manufacturing mfg manuf mfrs
technology tech techn technol technologies technologie tecnologia teknologi tecnologias technological tecnologica tecnologico technologique
institute inst instituto institut istituto instytut insititute
association assoc assn asso
national natl nat nacional nationale nazionale
american amer
department dept
hospital hosp hospitals
government govt
brothers bros
services svcs service svc serv
center centre ctr centro zentrum centrum
group grp
management mgmt mgt
engineering engg engrg eng
laboratory lab labs laboratories laboratoire laboratorio laboratorium
research res recherche
science sci sciences scientific
development dev
systems sys system
company cos
holdings hldgs hldg holding
industries ind industry indus
insurance ins
financial fin
finance fnce
products prods prod product
pharmaceuticals pharma pharm pharmaceutical
communications comm comms communication
electric elec electrical
electronics electr
academy acad academia academie accademia
college coll colleges
school sch schools
medical med medica medico medicale medicina medizinische
medicine medizin medecine
properties props
property prop
investments invs invest investment
distribution dist
associates assocs
federal fed
saint st
mount mt
foundation fdn fndn
council cncl
enterprises ent enterprise
entertainment entmt
energy
resources rsrcs resource
solutions soln solns solution
petroleum petr
railway rly rail
transport transp transportation
construction constr
general gen
bank bancorp
society soc
north
south
west
east
united utd
kingdom
uk
usa
great
advertising advert
consulting consult
consultants consultancy
commission comm
committee cttee
agriculture agr agric agricultural
equipment equip
materials mat matls
machinery mach
partners ptnrs
publishing publ
security sec
software softw sw
technical technique technische tecnica tecnico teknik tehnica technisch tekniska tekniske techniczna
catholic catolica catolico catholique katholische cattolica katolicki katolikus katholieke katolicka
state estatal estadual etat statale panstwowa
autonomous autonoma autonomo autonome
free libre freie libera vrije
economics economia economique wirtschaft ekonomi
southern sur sud sul
islamic islamica islam islamique
christian cristiana chretienne
superior superieure superieur
education educacion educacao enseignement
art arts artes kunst
public publica publico publique
therapeutics thera
trust tr
faculty
polytechnic polytech politecnico politechnika polytechnique
architects arch
district dist
library libr
museum
`;
const fullWordOf = new Map<string, string>();
for (const line of ABBREVIATIONS.trim().split('\n')) {
  const [word = '', ...others] = line.split(' ');
  for (const other of others) if (!fullWordOf.has(other)) fullWordOf.set(other, word);
  fullWordOf.set(word, word);
}

/** Returns the words of a name as written: folded, in Latin letters. */
function splitCompany(text: string): string[] {
  const latin = toLatin(text.slice(0, NAME_CHARACTERS_MAX))
    .replaceAll("'", '')
    .replace(STATE_OF_REGISTER, ' ')
    .replace(/[&+]/g, ' and ');
  const all = latin.match(isAscii(latin) ? WORDS_OF_ASCII : WORDS_OF_SCRIPT) ?? [];
  return all.length > WORDS_MAX ? all.slice(0, WORDS_MAX) : all;
}

const WORDS_OF_SCRIPT = /[\p{L}\p{N}\p{M}]+/gu;
/** Faster than the above, for most texts. */
const WORDS_OF_ASCII = /[a-z\d]+/g;

/** `DANAHER CORP /DE/`, as the register of the United States writes the state. */
const STATE_OF_REGISTER = /\s\/[a-z]{2,3}\/?\s*$/;

/** Joins dotted letters: `N.H.S.` is `nhs`. */
function joinLetters(all: string[]): string[] {
  if (all.every((word) => word.length > 1)) return all;
  const joined: string[] = [];
  let letters = '';
  for (const word of all) {
    if (word.length === 1 && /[a-z]/.test(word)) {
      letters += word;
      continue;
    }
    if (letters !== '') joined.push(letters);
    letters = '';
    joined.push(word);
  }
  if (letters !== '') joined.push(letters);
  return joined;
}

/** Reads a company's name; null when there is nothing to compare. One text is one object. */
export const readCompanyName = remember(parseCompanyName, TEXTS_KEPT);

/** Reads a company's name as above, once: the names of a register do not repeat. */
export function parseCompanyName(text: string): CompanyName | null {
  const written = splitCompany(text);
  if (written.length === 0) return null;
  const all = joinLetters(written);
  const forms: string[] = [];
  let rest = all;
  for (let found = formAtEnd(rest); found !== null; found = formAtEnd(rest)) {
    forms.push(found.form);
    rest = rest.slice(0, -found.words);
  }
  if (rest.length > 1 && leadingForms.has(rest[0] ?? '') && forms.length === 0) {
    forms.push(formOf.get(rest[0] ?? '') ?? '');
    rest = rest.slice(1);
  }
  const telling = rest.filter((word) => !dropped.has(word));
  const kept = telling.length > 0 ? telling : rest;
  const words = kept.map((word) => fullWordOf.get(word) ?? word);
  forms.reverse();
  const isInitial = (word: string, at: number) =>
    dropped.has(word) &&
    (word.length === 1
      ? [rest[at - 1], rest[at + 1]].some((beside = 'and') => beside === 'and')
      : at === 0 && written[0]?.length === 1);
  return {
    words,
    letters: telling.length > 0 ? rest.filter(isInitial).join('') : '',
    forms,
    joined: kept.join(''),
    whole: [...rest, ...forms].join(' '),
    solid: all.join(''),
  };
}

function formAtEnd(all: readonly string[]): { form: string; words: number } | null {
  const last = all.at(-1) ?? '';
  const wordsMax = formWordsMax.get(last) ?? 0;
  for (let count = Math.min(wordsMax, all.length - 1); count > 0; count -= 1) {
    const text = all.slice(-count).join(' ');
    const form = formOf.get(text);
    if (form !== undefined) return { form, words: count };
  }
  // `& Co` and `GmbH & Co`: the conjunction belongs to the form.
  if (last === 'and' && all.length > 1) return { form: 'and', words: 1 };
  return null;
}

/** Words that a company adds and omits, and that may yet be another company of the same group. */
export const groupWords = set('group holdings international global worldwide');
/** Words at the end of a name. At its beginning one is part of it: `Company Shop Ltd` is not `Shop Ltd`. */
export const endWords = set('limited ltd inc incorporated corp corporation company group holdings');
/** Kinds of institution, which change with the law of a country and the fashion of names. */
export const kindWords = set(
  'university college school institute academy state faculty polytechnic national center foundation',
);
/** Words for the country of a branch. */
export const branchWords = set(
  'uk usa us gb europe european britain british england emea ireland scotland america',
);
