import { expect, test } from 'vitest';
import { readCompanyName } from './company-words.ts';
import { relateCompanies } from './compare-companies.ts';
import { compareCompany } from './compare-company.ts';
import { isFormForeign } from './form-countries.ts';

function level(a: string, b: string): string {
  const [ours, theirs] = [readCompanyName(a), readCompanyName(b)];
  if (ours === null || theirs === null) throw new Error('no name');
  return relateCompanies(ours, theirs).level;
}

test.each([
  ['Nordlicht GmbH', 'NORDLICHT GMBH', 'same'],
  ['Nordlicht (Nord) Ltd.', 'NORDLICHT (NORD) LIMITED', 'same'],
  ['AB Nordlicht', 'Nordlicht Aktiebolag', 'same'],
  ['Nordlicht GmbH', 'Nordlicht', 'equal'],
  ['Nordlicht GmbH', 'Nordlicht AG', 'equal'],
  ['Nordlicht & Sohn GmbH & Co. KG', 'Nordlicht and Sohn', 'equal'],
  ['Miller Bros Mfg', 'Miller Brothers Manufacturing Inc.', 'equal'],
  ['University of Nordlicht', 'Nordlicht University', 'order'],
  ['Nord Licht Ltd', 'Nordlicht Limited', 'spaced'],
  ['Nordlihct Ltd', 'Nordlicht Ltd', 'slip'],
  ['Nordlicht Ltd', 'Nordlicht (UK) Ltd', 'branch'],
  ['Nordlicht Holdings Ltd', 'Nordlicht Ltd', 'group'],
  ['NLU', 'Nordlicht Learning University', 'acronym'],
  ['Nordlicht University Hospital', 'Nordlicht University', 'longer'],
  ['N.L. Systems', 'NL Systems', 'same'],
  ['Nordlicht e Figli Srl', 'Nordlicht & Figli Srl', 'equal'],
  ['A. E. Nordlicht Ltd', 'A.E. NORDLICHT LIMITED', 'same'],
  ['Aquavit', 'Aqua', 'overlap'],
  ['Nordlicht', 'Sonnenschein', 'none'],
])('%s and %s are %s', (a, b, expected) => {
  expect(level(a, b)).toBe(expected);
});

function isOfAnotherLaw(listed: string, stored: string[], country: string | null): boolean {
  const name = readCompanyName(listed);
  const names = stored.map(readCompanyName).filter((one) => one !== null);
  if (name === null) throw new Error('no name');
  const compared = compareCompany(
    { name, city: '', country: null },
    { id: 1, names, place: [], country },
  );
  return compared?.isOfAnotherLaw ?? false;
}

test.each<[string, string[], string | null, boolean]>([
  ['Nordlicht GmbH', ['Nordlicht Limited'], 'GB', true],
  ['Nordlicht GmbH', ['Nordlicht'], 'GB', true],
  ['Nordlicht GmbH', ['Nordlicht Inc', 'Nordlicht'], 'US', true],
  ['Nordlicht Corporation SpA', ['Nordlicht Corporation Limited'], 'IN', true],
  ['Nordlicht PLC', ['Nordlicht Limited'], 'GB', false],
  ['Nordlicht GmbH', ['Nordlicht Limited', 'Nordlicht GmbH'], 'GB', false],
  ['Nordlicht GmbH', ['Nordlicht AG'], 'DE', false],
  ['Nordlicht LLP', ['Nordlicht'], 'CA', false],
  ['Nordlicht PLC', ['Nordlicht'], 'KE', false],
  ['Nordlicht LLC', ['Nordlicht'], 'GE', false],
  ['Nordlicht (Pvt) Ltd', ['Nordlicht'], 'ZW', false],
  ['Nordlicht GmbH', ['Nordlicht Limited'], null, true],
  ['Nordlicht SAS', ['Nordlicht Company Limited'], null, true],
  ['Nordlicht Oy', ['Nordlicht A/S'], null, true],
  ['Nordlicht PLC', ['Nordlicht Limited'], null, false],
  ['Nordlicht GmbH', ['Nordlicht AG'], null, false],
  ['Nordlicht GmbH', ['Nordlicht'], null, false],
  ['Nordlicht Limited', ['Nordlicht GmbH'], 'DE', false],
])('%s is of another law than %s of %s: %s', (listed, stored, country, expected) => {
  expect(isOfAnotherLaw(listed, stored, country)).toBe(expected);
});

test('a company of one letter that changes is another company', () => {
  expect(level('I & A Restaurants Ltd', 'A & S Restaurants Ltd')).not.toBe('slip');
});

test.each([
  ['Nordlicht Fund 2021 LP', 'Nordlicht Fund 2022 LP'],
  ['Nordlicht Fund VII LP', 'Nordlicht Fund VIII LP'],
  ['Nordlicht Fund XVII LP', 'Nordlicht Fund XVIII LP'],
  ['Nordlicht Granite4 PLC', 'Nordlicht Granite5 PLC'],
  ['Studio Nordlicht Ltd', 'Studio Nordlicht24 Ltd'],
  ['Nordlicht Fund A LP', 'Nordlicht Fund I LP'],
  ['A Nordlicht & Sons Ltd', 'E Nordlicht & Sons Ltd'],
  ['D.E. Nordlicht Ltd', 'L.A. Nordlicht Ltd'],
  ['A & E Motors Ltd', 'A & I Motors Ltd'],
])('%s and %s are two companies: a number or an initial is no slip', (a, b) => {
  expect(level(a, b)).toBe('overlap');
});

test.each([
  ['Nordlicht AB', 'SE'],
  ['Nordlicht A/S', 'DK'],
  ['Nordlicht ApS', 'DK'],
  ['Nordlicht AS', 'NO'],
  ['Nordlicht a.s.', 'CZ'],
  ['Nordlicht s.r.o.', 'SK'],
  ['Nordlicht Oy', 'FI'],
  ['Nordlicht OÜ', 'EE'],
  ['Nordlicht S.A. de C.V.', 'MX'],
  ['Nordlicht S.r.l.', 'IT'],
  ['Nordlicht d.o.o.', 'RS'],
  ['Nordlicht ehf.', 'IS'],
  ['Nordlicht PJSC', 'UA'],
  ['Nordlicht ASBL', 'BE'],
])('the legal form of %s is one of %s, and none of the United Kingdom', (name, country) => {
  const forms = readCompanyName(name)?.forms ?? [];
  expect(forms.some((form) => isFormForeign(form, 'GB'))).toBe(true);
  expect(forms.some((form) => isFormForeign(form, country))).toBe(false);
});

test.each([
  ['Nordlicht Ltd', 'GB'],
  ['Nordlicht SA (Pty) Ltd', 'ZA'],
  ['Nordlicht SE', 'GB'],
])('the legal form of %s may be one of %s', (name, country) => {
  const forms = readCompanyName(name)?.forms ?? [];
  expect(forms.some((form) => isFormForeign(form, country))).toBe(false);
});
