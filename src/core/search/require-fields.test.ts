import { describe, expect, test } from 'vitest';
import { requireFields } from './require-fields.ts';

describe('a filter with required fields', () => {
  test('asks that each is known, once', () => {
    expect(requireFields('name=Ada', ['workEmail', 'mobile', 'mobile'])).toBe(
      'name=Ada&workEmail=*&mobile=*',
    );
    expect(requireFields('name=Ada', null)).toBe('name=Ada');
  });

  test.each(['', 'nonsense', 'limit', 'a&name', 'owned', '\u0000'])(
    'names `required` when it holds %j',
    (field) => {
      expect(() => requireFields('name=Ada', [field])).toThrow(
        expect.objectContaining({ errors: [expect.objectContaining({ field: 'required' })] }),
      );
    },
  );

  test('names `required` when the filter has the field already', () => {
    expect(() => requireFields('mobile=*', ['mobile'])).toThrow(
      expect.objectContaining({ errors: [expect.objectContaining({ field: 'required' })] }),
    );
  });
});
