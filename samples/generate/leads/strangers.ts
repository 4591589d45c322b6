/**
 * People and addresses that no generated graph contains, for the rows of a list that must not match. Each field
 * explains why it cannot collide.
 */
import { must } from '../../../src/core/lib/assert.ts';
import { cultures } from '../vocabulary/cultures.ts';
import { readWord } from '../vocabulary/slug.ts';
import type { Pick } from './spell-identifiers.ts';

export interface UnmatchableLead {
  name: string;
  surname: string;
  company: string;
  city: string;
  country: string;
  email: string;
  roleMailbox: string;
  profile: string;
  twitter: string;
  phone: string;
}

const words = Object.values(cultures).map((culture) => ({
  given: `${culture.male} ${culture.female}`.trim().split(/\s+/).map(readWord),
  family: culture.family.trim().split(/\s+/).map(readWord),
}));

const roles = ['support', 'security', 'press', 'billing', 'webmaster', 'jobs', 'clerk'];

/** Valid numbers whose beginnings are in none of the vocabulary's prefixes. */
const places = [
  { country: 'United States', city: 'Anchorage', prefix: '+1907555', digits: 4 },
  { country: 'United States', city: 'Honolulu', prefix: '+1808555', digits: 4 },
  { country: 'United Kingdom', city: 'Leicester', prefix: '+44116496', digits: 4 },
  { country: 'France', city: 'Amiens', prefix: '+3336191', digits: 4 },
  { country: 'Italy', city: 'Palermo', prefix: '+390917', digits: 6 },
] as const;

/** Returns the unmatchable lead of a row. */
export function unmatchableLeadOf(row: number, pick: Pick): UnmatchableLead {
  const culture = must(words[pick(words.length)], 'a culture');
  const given = must(culture.given[pick(culture.given.length)], 'a given name');
  const family = must(culture.family[pick(culture.family.length)], 'a family name');
  const place = must(places[pick(places.length)], 'a place');
  // No generated company is called "unlisted".
  const domain = `unlisted-${1 + (row % 9973)}.example`;
  return {
    name: given.native,
    surname: family.native,
    company: `Unlisted ${1 + (row % 9973)} Services`,
    city: place.city,
    country: place.country,
    email: `${given.latin}.${family.latin}@${domain}`,
    roleMailbox: `${must(roles[pick(roles.length)], 'a role')}@${domain}`,
    // Generated profiles end with eight hexadecimal digits.
    profile: `${given.latin}-${family.latin}-z${row}`,
    // Generated handles end with digits.
    twitter: `${given.latin.slice(0, 6)}_${family.latin.slice(0, 6)}x`,
    phone: place.prefix + String(pick(10 ** place.digits)).padStart(place.digits, '0'),
  };
}
