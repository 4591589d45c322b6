/**
 * Different spellings of one identifier. Each function takes the canonical value and returns a text that the
 * normaliser reads back as that value. `pick(n)` is a draw from 0 to n - 1.
 */
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { must } from '../../../src/core/lib/assert.ts';

export type Pick = (n: number) => number;

/** A neutral stand-in: only the path of a profile URL matters. */
const PROFILE_HOST = 'professional-network.example';

export function spellEmail(value: string, pick: Pick): string {
  return choose(pick, [
    value,
    value,
    value,
    value.toUpperCase(),
    capitalise(value),
    ` ${value}`,
    `${value} `,
    `mailto:${value}`,
  ]);
}

/** An address among other text; `other` is an address of no stored person. */
export function spellDirtyEmail(value: string, name: string, other: string, pick: Pick): string {
  return choose(pick, [
    `${name === '' ? 'Contact' : name.replace(/[^\p{L} ]/gu, '')} <${value}>`,
    `${value}.`,
    `${value};`,
    `<${value}>`,
    `${other}, ${value}`,
    `${other}mailto:${value}`,
    `${value} (work)`,
    `mailto:${value}?subject=Hello`,
  ]);
}

/** Texts in an email column that are not addresses. */
export function spellNoEmail(pick: Pick): string {
  return choose(pick, [
    'n/a',
    'unknown',
    'see website',
    'name at company',
    '@',
    'info@',
    'tbc',
    '-',
  ]);
}

/** A phone number; national forms only when the row names the country. */
export function spellPhone(value: string, hasCountry: boolean, pick: Pick): string {
  const number = must(parsePhoneNumberFromString(value), `a phone number in ${value}`);
  const international = number.formatInternational();
  if (!hasCountry) return choose(pick, [value, international, international.replaceAll(' ', '-')]);
  return choose(pick, [
    value,
    international,
    number.formatNational(),
    number.formatNational(),
    number.formatNational().replace(/[ ()-]/g, ''),
    `Tel: ${number.formatNational()}`,
    `${number.formatNational()} ext. ${1 + pick(99)}`,
  ]);
}

export function spellHandle(value: string, pick: Pick): string {
  return choose(pick, [
    value,
    `@${value}`,
    `@${value.toUpperCase()}`,
    `https://twitter.com/${value}`,
    `https://x.com/${value}`,
    `http://www.twitter.com/${value}/`,
    `https://mobile.twitter.com/${value}`,
    `https://twitter.com/#!/${value}`,
    `twitter.com/${value}?lang=en`,
  ]);
}

export function spellProfile(value: string, pick: Pick): string {
  return choose(pick, [
    `https://www.${PROFILE_HOST}/in/${value}`,
    `https://www.${PROFILE_HOST}/in/${value}/`,
    `https://uk.${PROFILE_HOST}/in/${value}?trk=public_profile`,
    `http://${PROFILE_HOST}/in/${value}`,
    `HTTPS://WWW.${PROFILE_HOST}/in/${value}/details/experience/`,
    `${PROFILE_HOST}/in/${value}#about`,
    `/in/${value}`,
    value,
  ]);
}

export function spellName(name: string, surname: string, pick: Pick): string {
  const full = `${name} ${surname}`;
  return choose(pick, [
    full,
    full,
    full,
    `${surname}, ${name}`,
    full.toUpperCase(),
    full.toLowerCase(),
    `${[...name][0] ?? ''}. ${surname}`,
    `${surname.toUpperCase()} ${name}`,
    '',
  ]);
}

export function spellWebsite(website: string, pick: Pick): string {
  if (website === '') return '';
  return choose(pick, ['', website, website.replace('https://www.', ''), `${website}/contact`]);
}

export function spellNotes(place: string, pick: Pick): string {
  if (pick(10) < 7) return '';
  return choose(pick, [
    place,
    'Met at the trade fair;\r\n"call back in spring"',
    'asked for a quote, 3 seats',
    '"warm"',
    'do not call before 10:00\nprefers e-mail',
    'source: event, 2023; tag=\tA',
  ]);
}

function capitalise(value: string): string {
  return value.replace(/(^|[._-])([a-z])/g, (_, before: string, letter: string) => {
    return before + letter.toUpperCase();
  });
}

function choose(pick: Pick, ways: readonly string[]): string {
  return must(ways[pick(ways.length)], 'a way to write it');
}
