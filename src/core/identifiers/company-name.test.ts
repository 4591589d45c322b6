import fc from 'fast-check';
import { normaliseCompanyName } from './company-name.ts';
import { describeNormaliser } from './vectors/normaliser.test-suite.ts';

const words = [
  'The',
  'Group',
  'S.A.',
  'n v',
  'Co',
  '&',
  'Ltd',
  'AB',
  'de C.V.',
  'z',
  'o.o.',
  'Sp.',
];

describeNormaliser({
  kind: 'company-name',
  normalise: (text) => normaliseCompanyName(text),
  nearly: fc
    .array(fc.oneof(fc.constantFrom(...words), fc.string({ unit: 'binary', maxLength: 4 })), {
      maxLength: 8,
    })
    .map((parts) => parts.join(' ')),
  contexts: [undefined],
});
