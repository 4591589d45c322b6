/**
 * The vocabulary as rows for SQL: the generator's statements pick from these tables by number. Places in a list
 * count from 0 without gaps, so that a pick is `draw % count`.
 */

import { normaliseIdentifier } from '../../../src/core/identifiers/identifier.ts';
import { must } from '../../../src/core/lib/assert.ts';
import { drawNumber } from '../draw-number.ts';
import { cultures } from './cultures.ts';
import { type CountryWords, countries, type PhonePrefixes } from './places.ts';
import { readWord } from './slug.ts';
import { levels, professions } from './work.ts';

const cultureNames = Object.keys(cultures);

/** Of ten people of a country, how many have names of its main culture. */
const MAIN_CULTURE_TENTHS = 7;
const POSTCODES_PER_COUNTRY = 200;
const SKILL_LISTS_PER_PROFESSION = 64;

/** Returns every row of every word table. */
export function wordTables() {
  return {
    countries: countries.map(countryRow),
    countrySlots: slots(countries.map((country) => country.weight)).map((index, slot) => ({
      slot,
      country_id: index + 1,
    })),
    regions: regionNames.map(({ name, countryId }, index) => ({
      id: index + 1,
      name,
      country_id: countryId,
    })),
    cities: cityRows(),
    cultureSlots: countries.flatMap(cultureSlots),
    names: cultureNames.flatMap(nameRows),
    phones: countries.flatMap((country, index) => [
      ...phoneRows(index + 1, 'fixed', country.fixed),
      ...phoneRows(index + 1, 'mobile', country.mobile),
    ]),
    streets: countries.flatMap((country, index) =>
      country.streets.map((text, place) => ({ country_id: index + 1, place, text })),
    ),
    postcodes: countries.flatMap(postcodeRows),
    forms: countries.flatMap(formRows),
    positions: positionRows(),
    levelSlots: slots(levels.map((level) => level.weight)).map((level, slot) => ({ slot, level })),
    skills: professions.flatMap((_, profession) => skillRows(profession)),
  };
}

/** Repeats each index by its weight: a weighted pick is then a plain one. */
function slots(weights: readonly number[]): number[] {
  return weights.flatMap((weight, index) => Array.from({ length: weight }, () => index));
}

function countryRow(country: CountryWords, index: number) {
  return {
    id: index + 1,
    iso2: country.iso2,
    name: country.name,
    currency: country.currency,
    languages: country.languages,
    first_city_id: 1 + cityCount(countries.slice(0, index)),
    cities: cityCount([country]),
    streets: country.streets.length,
    forms: country.legalForms.length,
    fixed_prefixes: country.fixed.prefixes.split(' ').length,
    fixed_digits: country.fixed.digits,
    mobile_prefixes: country.mobile.prefixes.split(' ').length,
    mobile_digits: country.mobile.digits,
  };
}

function cityCount(some: readonly CountryWords[]): number {
  return some.reduce((sum, country) => sum + citiesOf(country).length, 0);
}

interface CityWords {
  name: string;
  region: string;
  latitude: string;
  longitude: string;
}

function citiesOf(country: CountryWords): CityWords[] {
  return country.cities.split('\n').map((line) => {
    const [name, region, latitude, longitude] = line.trim().split('|');
    return {
      name: must(name, `city name in ${line}`),
      region: must(region, `region in ${line}`),
      latitude: must(latitude, `latitude in ${line}`),
      longitude: must(longitude, `longitude in ${line}`),
    };
  });
}

const regionNames = countries.flatMap((country, index) =>
  [...new Set(citiesOf(country).map((city) => city.region))].map((name) => ({
    name,
    countryId: index + 1,
  })),
);

function cityRows() {
  const rows = countries.flatMap((country, index) =>
    citiesOf(country).map((city, place) => ({
      country_id: index + 1,
      place,
      region_id:
        1 + regionNames.findIndex((r) => r.name === city.region && r.countryId === index + 1),
      name: city.name,
      locality: `${city.name}, ${city.region}, ${country.name}`,
      geo: `${city.latitude},${city.longitude}`,
    })),
  );
  return rows.map((row, index) => ({ id: index + 1, ...row }));
}

function wordsOf(text: string) {
  return text.trim().split(/\s+/).map(readWord);
}

function cultureSlots(country: CountryWords, index: number) {
  const others = country.cultures.length > 1 ? country.cultures.slice(1) : country.cultures;
  return Array.from({ length: 10 }, (_, slot) => {
    const name = slot < MAIN_CULTURE_TENTHS ? country.cultures[0] : others[slot % others.length];
    const culture = cultureNames.indexOf(name ?? '');
    const words = must(cultures[name ?? ''], `names of culture ${name}`);
    return {
      country_id: index + 1,
      slot,
      culture,
      males: wordsOf(words.male).length,
      females: wordsOf(words.female).length,
      families: wordsOf(words.family).length,
    };
  });
}

function nameRows(name: string, culture: number) {
  const words = must(cultures[name], `culture ${name}`);
  return (['male', 'female', 'family'] as const).flatMap((kind) =>
    wordsOf(words[kind]).map((word, place) => ({ culture, kind, place, ...word })),
  );
}

function phoneRows(countryId: number, kind: string, phones: PhonePrefixes) {
  return phones.prefixes
    .split(' ')
    .map((prefix, place) => ({ country_id: countryId, kind, place, prefix }));
}

function postcodeRows(country: CountryWords, index: number) {
  return Array.from({ length: POSTCODES_PER_COUNTRY }, (_, place) => {
    let position = 0;
    const draw = (n: number) => drawNumber(index + 1, place * 64 + position++, n);
    const text = country.postcode
      .replace(/9/g, () => String(draw(10)))
      .replace(/A/g, () => 'ABCDEFGHJKLMNPRSTUWXY'.charAt(draw(21)));
    return { country_id: index + 1, place, text };
  });
}

/** The part of a legal form in the canonical name of a company: mostly none. */
function formRows(country: CountryWords, index: number) {
  return country.legalForms.map((form, place) => {
    const normalised = normaliseIdentifier('name', `Aaaa ${form}`, { subject: 'company' });
    const [value] = 'values' in normalised ? normalised.values : [undefined];
    const canonical = must(value, `canonical form of ${form}`).slice('aaaa'.length);
    return { country_id: index + 1, place, form, canonical };
  });
}

function positionRows() {
  const rows = professions.flatMap((profession, professionIndex) =>
    levels.map((level, levelIndex) => ({
      profession: professionIndex,
      level: levelIndex,
      title: level.title.replace('#', profession.title).replace('@', profession.name),
      years_min: level.yearsMin,
      salary_min: level.salaryMin,
    })),
  );
  return rows.map((row, index) => ({ id: index + 1, ...row }));
}

/** Returns comma-separated lists of three to six skills, each in its own order. */
function skillRows(profession: number) {
  const words = must(professions[profession], 'a profession').skills;
  return Array.from({ length: SKILL_LISTS_PER_PROFESSION }, (_, place) => {
    const rest = [...words];
    const count = 3 + drawNumber(profession, place * 64, 4);
    const chosen = Array.from(
      { length: count },
      (_unused, n) => rest.splice(drawNumber(profession, place * 64 + n + 1, rest.length), 1)[0],
    );
    return { profession, place, text: chosen.join(', ') };
  });
}
