import fc from 'fast-check';
import { normaliseProfileUrl } from './profile-url.ts';
import { describeNormaliser } from './vectors/normaliser.test-suite.ts';

describeNormaliser({
  kind: 'profile-url',
  normalise: (text, context) =>
    normaliseProfileUrl(text, context === 'company' ? 'company' : 'person'),
  nearly: fc
    .tuple(
      fc.constantFrom('', 'https://network.example/', '//', 'network.example/', '/'),
      fc.constantFrom('', 'in/', 'pub/', 'company/', 'In/company/'),
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.constantFrom('', '%', '%25', '%41', '/1/2/3', '?x', '>'),
    )
    .map((parts) => parts.join('')),
  contexts: [undefined, 'company'],
});
