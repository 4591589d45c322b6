import { describe, expect, test } from 'vitest';
import {
  type IdentifierKind,
  identifierKinds,
  kindsOfCountries,
  normaliseIdentifier,
} from './identifier.ts';

describe('normaliseIdentifier', () => {
  test.each<[IdentifierKind, string, string]>([
    ['professional_network', 'https://network.example/in/Jane-Doe', 'jane-doe'],
    ['email', 'Jane@Example.com', 'jane@example.com'],
    ['phone', '020 7946 0000', '+442079460000'],
    ['twitter', '@JaneDoe', 'janedoe'],
    ['registry_number', '48839', 'GB-00048839'],
    ['domain', 'www.example.com', 'example.com'],
    ['name', 'Example & Sons, Inc.', 'example and sons'],
  ])('applies the rules of %s', (kind, text, expected) => {
    const outcome = normaliseIdentifier(kind, text, { subject: 'person', region: 'GB' });
    expect(outcome).toEqual({ values: [expected] });
  });

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
    const contexts = ['GB', 'DE', 'US'].map((code) => {
      return { subject: 'company', region: code, registryCountry: code } as const;
    });
    const depends = identifierKinds.filter((kind) =>
      texts.some((text) => {
        const found = contexts.map((context) => normaliseIdentifier(kind, text, context));
        return new Set(found.map((one) => JSON.stringify(one))).size > 1;
      }),
    );
    expect(new Set(depends)).toEqual(kindsOfCountries);
  });
});
