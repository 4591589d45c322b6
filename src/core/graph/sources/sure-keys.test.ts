import { describe, expect, test } from 'vitest';
import { sureKeysOf } from './sure-keys.ts';

function company(registryNumber: string) {
  const record = { name: 'Acme Ltd', registryNumber, registryCountry: 'GB' };
  return { entity: 'company' as const, key: registryNumber, record };
}

describe('the values of a company are', () => {
  test('in a register its number, by which alone officers and accounts name it', () => {
    expect(sureKeysOf('gb-companies', company('00048839'))).toEqual(['registry:GB-00048839']);
  });

  test('in a register its key, where the number is none', () => {
    expect(sureKeysOf('gb-companies', company('00000000'))).toEqual(['key:gb-companies/00000000']);
  });

  test('in another source its number and its key', () => {
    expect(sureKeysOf('hubspot', company('00048839'))).toEqual([
      'registry:GB-00048839',
      'key:hubspot/00048839',
    ]);
  });
});

test.each(['nan', 'None', 'NULL', '-', 'me'])(
  'a profile %s joins neither companies nor people',
  (text) => {
    for (const entity of ['company', 'person'] as const) {
      const record = { name: 'Acme', professional_network: text };
      expect(sureKeysOf('partners', { entity, key: '1', record })).toEqual(['key:partners/1']);
    }
    const record = { name: 'Ada', professional_network: `https://www.linkedin.com/in/${text}` };
    expect(sureKeysOf('partners', { entity: 'person', key: '1', record })).toEqual([
      'key:partners/1',
    ]);
  },
);
