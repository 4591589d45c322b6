import { expect, it } from 'vitest';
import { cultures } from './cultures.ts';
import { asciiSlug, readWord } from './slug.ts';

it('removes accents and spells out letters without any', () => {
  expect(asciiSlug('Zoë Łukasz-Ødegård Weiß')).toBe('zoelukaszodegardweiss');
  expect(asciiSlug('İpek')).toBe('ipek');
});

it('reads a word with its Latin spelling', () => {
  expect(readWord('Иван=ivan')).toEqual({ native: 'Иван', latin: 'ivan' });
  expect(readWord('van|Dijk=vandijk')).toEqual({ native: 'van Dijk', latin: 'vandijk' });
});

it('has a Latin spelling of at least two letters for every name', () => {
  for (const { male, female, family } of Object.values(cultures)) {
    for (const token of `${male} ${female} ${family}`.trim().split(/\s+/)) {
      expect(`${token} ${readWord(token).latin}`).toMatch(/ [a-z]{2,}$/);
    }
  }
});
