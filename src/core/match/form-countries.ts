/** The countries of legal forms: a form of another country than the company's is a sign of another company. */

/** Countries whose law knows a form, for forms of one or two countries. */
const countriesOfForm: Readonly<Record<string, string>> = {
  plc: 'GB IE GI JE GG IM MT CY LK NG KE TZ ZM GH MW RW ET KH HU',
  llp: 'GB IN US SG CA IE KE PK KZ',
  cic: 'GB',
  cio: 'GB',
  llc: 'US AE RU UA QA OM PH GE AM AZ KZ UZ KG TJ MN SA KW BH EG',
  gmbh: 'DE AT CH LI',
  ag: 'DE AT CH LI LU',
  kg: 'DE AT',
  kgaa: 'DE',
  ohg: 'DE',
  ug: 'DE',
  ab: 'SE FI LT',
  as: 'NO DK FO EE LV CZ SK TR',
  asa: 'NO',
  aps: 'DK',
  oy: 'FI',
  oyj: 'FI',
  kk: 'JP',
  gk: 'JP',
  pty: 'AU ZA BW',
  pvt: 'IN PK LK BD NP MV ZW',
  pte: 'SG FJ',
  bhd: 'MY BN',
  sdn: 'MY BN',
  tbk: 'ID',
  pt: 'ID',
  kft: 'HU',
  zrt: 'HU',
  nyrt: 'HU',
  sro: 'CZ SK',
  spzoo: 'PL',
  ooo: 'RU BY KG',
  oao: 'RU BY',
  pao: 'RU',
  zao: 'RU BY',
  pjsc: 'RU UA AM AE QA',
  ojsc: 'RU UA BY KG AZ TJ',
  ltda: 'BR CL CO BO PT EC PY CR',
  bv: 'NL BE CW SR AW SX',
  nv: 'NL BE CW SR AW SX',
  vzw: 'BE',
  asbl: 'BE LU',
  spa: 'IT CL DZ',
  sl: 'ES',
  slu: 'ES',
  sau: 'ES AR',
  cv: 'MX HN SV NL BE CW SR SX ID',
  srl: 'IT SM RO MD BE ES AR BO CL CO CR DO EC HN MX PA PE PY UY VE CA BB',
  eirl: 'PE CL CR DO PY FR',
  sas: 'FR MC LU CO IT AR UY DO MX',
  sarl: 'FR LU CH MA TN DZ LB CI SN CM',
  uab: 'LT',
  sia: 'LV',
  ou: 'EE',
  ehf: 'IS',
  doo: 'RS HR SI BA ME MK',
  ood: 'BG',
  ead: 'BG',
  sgps: 'PT',
  sab: 'MX',
};

/** Countries where companies register under these forms, and not only call themselves so in English. */
const COMMON_LAW =
  'GB IE IM JE GG GI MT CY US CA AU NZ IN PK LK BD NP HK SG MY ZA BW NG KE GH BM KY VG BS IL';
const commonLawForms: ReadonlySet<string> = new Set(['ltd', 'inc', 'corp']);

/**
 * Forms of so many countries that, among companies of one name, they say little about the country; Britain has none of them. They
 * count for a number that is read as British for want of a country.
 */
const formsUnknownInBritain: ReadonlySet<string> = new Set(['sa', 'sca', 'jsc']);

/** True when the register of the country (ISO 3166 alpha-2) has no company of a legal form. */
export function isFormUnregistered(form: string, country: string): boolean {
  return isFormForeign(form, country) || (country === 'GB' && formsUnknownInBritain.has(form));
}

/** True when no country knows a legal form together with one of the others. */
export function areFormsApart(form: string, others: readonly string[]): boolean {
  const countries = countriesOfForm[form]?.split(' ');
  if (countries === undefined) return false;
  const known = others.map((other) =>
    commonLawForms.has(other) ? COMMON_LAW : countriesOfForm[other],
  );
  return known.every((ones) => ones !== undefined && !countries.some((one) => ones.includes(one)));
}

/** True when a legal form is unknown in the country (ISO 3166 alpha-2). */
export function isFormForeign(form: string, country: string): boolean {
  const countries = countriesOfForm[form];
  return countries !== undefined && !countries.includes(country);
}
