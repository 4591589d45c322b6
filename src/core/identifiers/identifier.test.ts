import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type IdentifierKind,
  identifierKinds,
  kindNames,
  normaliseIdentifier,
} from './identifier.ts';
import type { NormaliseContext } from './kind.ts';
import { describeNormaliser } from './vectors/normaliser.test-suite.ts';

const nameParts = 'The|Group|S.A.|n v|Co|&|Ltd|AB|de C.V.|z|o.o.|Sp.'.split('|');

/** Shapes of text that are nearly valid, so that random text reaches the deep branches. */
const nearly: Partial<Record<IdentifierKind, fc.Arbitrary<string>>> = {
  email: fc.stringMatching(
    /^['"<]?[a-zA-ZéßİK.'+ -]{0,12} ?@ ?[a-zA-Zéßİ.-]{0,12}[.。]com?[>;, ]{0,2}$/u,
  ),
  phone: fc.oneof(
    fc.stringMatching(/^[ +(]?\d{1,4}[) /~.-]{0,3}\d{2,8}[ /,;x-]{0,3}\d{0,11}$/),
    fc.stringMatching(/^\+(44|39|49|225|353|290)0{0,2}\d{4,11}$/),
  ),
  professional_network: fc
    .tuple(
      fc.constantFrom('', 'https://network.example/', '//', 'network.example/', '/'),
      fc.constantFrom('', 'in/', 'pub/', 'company/', 'In/company/'),
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.constantFrom('', '%', '%25', '%41', '/1/2/3', '?x', '>'),
    )
    .map((parts) => parts.join('')),
  twitter: fc.stringMatching(/^(https:\/\/)?(x\.com\/|twitter\.com\/)?(#!\/)?@?\w{0,22}[/?#]?$/),
  registry_number: fc.stringMatching(
    /^(GB|UK|NL|DE|SC|No|IP|XX)?[ -]{0,2}(COH-)?(GB|NL|SC|NO|R|CO)?[ -]?[0-9]{0,9}(R|RS)?$/,
  ),
  domain: fc
    .tuple(
      fc.stringMatching(/^(https?:\/\/)?(www\.){0,3}[a-z0-9.ßéİ例-]{0,14}$/u),
      fc.constantFrom('.com', '.co.uk', '.github.io', '.ck', '.中国', '.example', '.kobe.jp'),
      fc.stringMatching(/^[/:?#. ,]{0,2}[a-z0-9.]{0,6}$/),
    )
    .map((parts) => parts.join('')),
  name: fc
    .array(fc.oneof(fc.constantFrom(...nameParts), fc.string({ unit: 'binary', maxLength: 4 })), {
      maxLength: 8,
    })
    .map((parts) => parts.join(' ')),
};

/** Contexts of vectors, and of the check that a canonical value stays: a subject or a country. */
const contexts: Partial<Record<IdentifierKind, string[]>> = {
  phone: ['GB', 'US', 'DE', 'IT', 'BR', 'AR', 'MX', 'KR', 'BB', 'LT', 'RU'],
  professional_network: ['company'],
  registry_number: ['GB', 'UK', 'NL', 'DE', 'SC', 'nowhere'],
};

function contextOf(text: string | undefined): NormaliseContext {
  if (text === undefined) return { subject: 'person' };
  if (text === 'person' || text === 'company') return { subject: text };
  return { subject: 'person', region: text, registryCountry: text };
}

for (const kind of kindNames) {
  describeNormaliser({
    kind,
    normalise: (text, context) => normaliseIdentifier(kind, text, contextOf(context)),
    nearly: nearly[kind],
    contexts: [undefined, ...(contexts[kind] ?? [])],
  });
}

describe('normaliseIdentifier', () => {
  test('the subject decides which kind of profile a URL must be', () => {
    const url = 'https://network.example/company/example-inc';
    expect(normaliseIdentifier('professional_network', url, { subject: 'company' })).toEqual({
      values: ['example-inc'],
    });
    expect(normaliseIdentifier('professional_network', url, { subject: 'person' })).toEqual({
      reason: 'company_profile',
    });
  });

  test('the register country decides how a registry number is read', () => {
    const context = { subject: 'company', registryCountry: 'DE' } as const;
    expect(normaliseIdentifier('registry_number', 'HRB 1234', context)).toEqual({
      values: ['DE-HRB1234'],
    });
  });

  test('a plus that a query string turned into a space is a plus, but only in a query string', () => {
    const fromQuery = { subject: 'person', fromQuery: true } as const;
    expect(normaliseIdentifier('phone', ' 2025550100', fromQuery)).toEqual({
      values: ['+2025550100'],
    });
    expect(normaliseIdentifier('phone', ' 2025550100', { subject: 'person' })).toEqual({
      reason: 'phone_without_country',
    });
  });

  test('only kinds of countries depend on one', () => {
    const texts = [
      '020 7946 0000',
      '48839',
      'GB 48839',
      'jane@example.com',
      'Example GmbH',
      'a.de',
    ];
    const countries = ['GB', 'DE', 'US'].map((code) => {
      return { subject: 'company', region: code, registryCountry: code } as const;
    });
    const depends = kindNames.filter((kind) =>
      texts.some((text) => {
        const found = countries.map((context) => normaliseIdentifier(kind, text, context));
        return new Set(found.map((one) => JSON.stringify(one))).size > 1;
      }),
    );
    expect(depends).toEqual(kindNames.filter((kind) => identifierKinds[kind].dependsOnCountry));
  });
});
