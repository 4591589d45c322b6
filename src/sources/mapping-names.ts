/** Names of columns that lists do not read, folded, by the field of a mapping. */

/** Of people and companies. */
const shared: Readonly<Record<string, readonly string[]>> = {
  key: [
    'id',
    'key',
    'uid',
    'uuid',
    'guid',
    'external id',
    'record id',
    'customer id',
    'customer number',
    'customer no',
    'kundennummer',
    'numero client',
  ],
  street: [
    'street',
    'street address',
    'address',
    'address line 1',
    'address 1',
    'strasse',
    'rue',
    'adresse',
  ],
  postcode: [
    'postcode',
    'post code',
    'postal code',
    'zip',
    'zip code',
    'zipcode',
    'plz',
    'code postal',
  ],
  region: ['region', 'state', 'county', 'province', 'state region', 'bundesland'],
  city: ['city', 'town', 'ort', 'stadt', 'ville', 'ciudad', 'citta', 'plaats'],
};

export const personNames: Readonly<Record<string, readonly string[]>> = {
  ...shared,
  key: [...(shared.key ?? []), 'contact id', 'person id', 'lead id', 'member id'],
  salutation: ['salutation', 'anrede', 'prefix', 'honorific'],
  birth_date: ['birth date', 'birthdate', 'birthday', 'date of birth', 'dob', 'geburtsdatum'],
  website: ['website', 'web site', 'company website', 'company domain', 'domain', 'webseite'],
};

export const companyNames: Readonly<Record<string, readonly string[]>> = {
  ...shared,
  key: [...(shared.key ?? []), 'company id', 'account id', 'organization id', 'organisation id'],
  industry: ['industry', 'sector', 'branche', 'secteur'],
  sic_codes: ['sic', 'sic code', 'sic codes', 'naics', 'naics code', 'nace', 'nace code', 'naf'],
  employees: ['employees', 'number of employees', 'employee count', 'mitarbeiter', 'effectif'],
  head_count: ['head count', 'headcount', 'size', 'company size', 'employee range'],
  founded: [
    'founded',
    'year founded',
    'founded year',
    'incorporated',
    'incorporation date',
    'gegrundet',
  ],
  status: ['company status', 'status'],
  email: ['email', 'e mail', 'company email', 'general email'],
  registry_country: ['registry country', 'country of registration', 'jurisdiction'],
  summary: ['description', 'summary', 'about'],
};
