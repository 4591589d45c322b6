import { toASCII } from 'tr46';
import { expect, test, vi } from 'vitest';
import { normaliseDomain, toAsciiHost } from './domain.ts';

vi.mock('tr46', { spy: true });

test('a host longer than DNS allows is refused before it is converted, which takes quadratic time', () => {
  const label = (characters: number) => '例'.repeat(characters);
  expect(toAsciiHost(`${label(10)}.example`)).toMatch(/^xn--/);
  expect(toASCII).toHaveBeenCalled();
  vi.mocked(toASCII).mockClear();
  for (const host of [label(990), label(64), `a.${label(64)}。b`, `${label(60)}.`.repeat(5)]) {
    expect(toAsciiHost(`${host}.example`)).toBeNull();
    expect(normaliseDomain(`https://${host}.example/`)).toEqual({ reason: 'not_a_domain' });
  }
  expect(toASCII).not.toHaveBeenCalled();
});
