/** Words of job titles, folded, for `title-family.ts`. */

/** Words of seniority and scope: a title with them is of the family of the rest. */
export const leadingModifiers: ReadonlySet<string> = new Set(
  `senior sr junior jr lead leading principal staff deputy assistant associate interim acting trainee graduate group
  global regional international uk emea`.split(/\s+/),
);

/** The same at the end of a title. */
export const trailingModifiers: ReadonlySet<string> = new Set(
  'lead senior junior trainee i ii iii iv 1 2 3 4 uk uki eu emea apac europe usa'.split(' '),
);

/** Heads that say nothing without their field: `Director, Finance` and `Director of Finance` are `Finance Director`. */
export const bareHeads: ReadonlySet<string> = new Set([
  'director',
  'executive director',
  'managing director',
  'manager',
  'general manager',
  'member',
  'vice president',
  'executive vice president',
  'officer',
  'engineer',
  'specialist',
  'professor',
]);

/** Heads that are whole: what follows a comma names a company or a place, as in `Managing Director, Munitions`. */
export const wholeHeads: ReadonlySet<string> = new Set(['managing director', 'general manager']);

/** Texts that say that there is no value. */
export const noValues: ReadonlySet<string> = new Set([
  'n a',
  'na',
  'none',
  'unknown',
  'null',
  'not provided',
  'other',
  'unspecified',
  'nd',
]);

/** Abbreviations and variants of one word. */
export const wordVariants = tableOf({
  sr: 'senior',
  jr: 'junior',
  vp: 'vice president',
  svp: 'senior vice president',
  avp: 'assistant vice president',
  evp: 'executive vice president',
  dir: 'director',
  mgr: 'manager',
  admin: 'administrator',
  asst: 'assistant',
  assoc: 'associate',
  exec: 'executive',
  ceo: 'chief executive officer',
  cfo: 'chief financial officer',
  coo: 'chief operating officer',
  cto: 'chief technology officer',
  cio: 'chief information officer',
  cmo: 'chief marketing officer',
  cro: 'chief revenue officer',
  chro: 'chief human resources officer',
  cpo: 'chief people officer',
  fd: 'finance director',
  gm: 'general manager',
  mp: 'member of parliament',
  mep: 'member of the european parliament',
  hrbp: 'hr business partner',
  hrd: 'hr director',
  chairman: 'chair',
  chairwoman: 'chair',
  chairperson: 'chair',
  cofounder: 'co founder',
});

/** Whole titles, in English and other languages, with the title of their family. An `MD` beside other words is a physician. */
export const titleVariants = tableOf({
  md: 'managing director',
  'chief executive': 'chief executive officer',
  'chief operations officer': 'chief operating officer',
  'chief finance officer': 'chief financial officer',
  'chief technical officer': 'chief technology officer',
  'financial director': 'finance director',
  geschaftsfuhrer: 'managing director',
  geschaftsfuhrerin: 'managing director',
  'geschaftsfuhrender gesellschafter': 'managing director',
  vorstandsvorsitzender: 'chief executive officer',
  vorstandsvorsitzende: 'chief executive officer',
  vorstand: 'board member',
  vertriebsleiter: 'sales manager',
  vertriebsleiterin: 'sales manager',
  'leiter vertrieb': 'sales manager',
  'leiterin vertrieb': 'sales manager',
  marketingleiter: 'marketing manager',
  marketingleiterin: 'marketing manager',
  'leiter marketing': 'marketing manager',
  personalleiter: 'hr manager',
  personalleiterin: 'hr manager',
  projektleiter: 'project manager',
  projektleiterin: 'project manager',
  einkaufer: 'buyer',
  einkauferin: 'buyer',
  softwareentwickler: 'software engineer',
  softwareentwicklerin: 'software engineer',
  'software developer': 'software engineer',
  'software entwickler': 'software engineer',
  ingenieur: 'engineer',
  'ingenieur logiciel': 'software engineer',
  'developpeur logiciel': 'software engineer',
  developpeur: 'software engineer',
  'directeur general': 'managing director',
  'directrice generale': 'managing director',
  'president directeur general': 'chief executive officer',
  pdg: 'chief executive officer',
  'directeur commercial': 'sales director',
  'directrice commerciale': 'sales director',
  'directeur financier': 'finance director',
  'directrice financiere': 'finance director',
  'directeur des ressources humaines': 'hr director',
  'directrice des ressources humaines': 'hr director',
  drh: 'hr director',
  'directeur marketing': 'marketing director',
  'directrice marketing': 'marketing director',
  'chef de projet': 'project manager',
  'cheffe de projet': 'project manager',
  gerant: 'managing director',
  gerante: 'managing director',
  depute: 'member of parliament',
  deputee: 'member of parliament',
  senateur: 'senator',
  senatrice: 'senator',
  maire: 'mayor',
  'director general': 'managing director',
  'directora general': 'managing director',
  gerente: 'manager',
  'gerente general': 'general manager',
  'director financiero': 'finance director',
  'director comercial': 'sales director',
  'directora comercial': 'sales director',
  'jefe de proyecto': 'project manager',
  ingeniero: 'engineer',
  'ingeniero de software': 'software engineer',
  diputado: 'member of parliament',
  diputada: 'member of parliament',
  senador: 'senator',
  senadora: 'senator',
  alcalde: 'mayor',
  'amministratore delegato': 'chief executive officer',
  'direttore generale': 'managing director',
  'direttore commerciale': 'sales director',
  'direttore finanziario': 'finance director',
  'responsabile commerciale': 'sales manager',
  'algemeen directeur': 'managing director',
  directeur: 'director',
  directrice: 'director',
  verkoopdirecteur: 'sales director',
  'commercieel directeur': 'sales director',
  'financieel directeur': 'finance director',
  'diretor geral': 'managing director',
  'diretor financeiro': 'finance director',
  'diretor comercial': 'sales director',
  'verkstallande direktor': 'chief executive officer',
  'administrerende direktor': 'chief executive officer',
  'daglig leder': 'managing director',
  styreleder: 'chair',
  toimitusjohtaja: 'chief executive officer',
  'juhatuse liige': 'board member',
  'prezes zarzadu': 'chief executive officer',
  'dyrektor generalny': 'managing director',
  'dyrektor handlowy': 'sales director',
});

/** Words that are written in capitals, and those in small letters. */
export const capitals: ReadonlySet<string> = new Set(
  'hr it uk eu emea apac usa pr qa ux ui seo ai api bi crm erp b2b b2c kyc hse qhse rf sap sql php rd'.split(
    ' ',
  ),
);
export const smallWords: ReadonlySet<string> = new Set(
  'of and the for in to at on upon under by de la le les du des del della der und et y en van von e do da dos a'.split(
    ' ',
  ),
);

/** A map, because an object also has members such as `constructor`, which is a job. */
function tableOf(table: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(Object.entries(table));
}
