import fc from 'fast-check';
import { normaliseRegistryNumber } from './registry-number.ts';
import { describeNormaliser } from './vectors/normaliser.test-suite.ts';

describeNormaliser({
  kind: 'registry-number',
  normalise: normaliseRegistryNumber,
  nearly: fc.stringMatching(
    /^(GB|UK|NL|DE|SC|No|IP|XX)?[ -]{0,2}(COH-)?(GB|NL|SC|NO|R|CO)?[ -]?[0-9]{0,9}(R|RS)?$/,
  ),
  contexts: [undefined, 'GB', 'UK', 'NL', 'DE', 'SC', 'nowhere'],
});
