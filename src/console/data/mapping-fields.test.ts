import { expect, test } from 'vitest';
import { sourceNames } from '../../sources/read-source.ts';
import { mappingSchema } from '../../sources/source-mapping.ts';
import { sourceLabels } from './import-run.ts';
import { mappingFields } from './mapping-fields.ts';

test('every field of a mapping has its words, and no other', () => {
  for (const of of ['persons', 'companies'] as const) {
    for (const field of Object.keys(mappingFields[of])) {
      expect(mappingSchema.safeParse({ of, columns: { [field]: ['A'] } }).success, field).toBe(
        true,
      );
    }
    const refused = mappingSchema.safeParse({ of, columns: { none: ['A'] } });
    const known = /other than (.*)/.exec(refused.error?.issues[0]?.message ?? '')?.[1]?.split(', ');
    expect(Object.keys(mappingFields[of])).toEqual(known);
  }
});

test('every source has its words, and no other', () => {
  expect([...Object.keys(sourceLabels), 'auto'].sort()).toEqual([...sourceNames].sort());
});
