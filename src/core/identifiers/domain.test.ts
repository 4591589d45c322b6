import fc from 'fast-check';
import { normaliseDomain } from './domain.ts';
import { describeNormaliser } from './vectors/normaliser.test-suite.ts';

describeNormaliser({
  kind: 'domain',
  normalise: (text) => normaliseDomain(text),
  nearly: fc
    .tuple(
      fc.stringMatching(/^(https?:\/\/)?(www\.){0,3}[a-z0-9.ßéİ例-]{0,14}$/u),
      fc.constantFrom('.com', '.co.uk', '.github.io', '.ck', '.中国', '.example', '.kobe.jp'),
      fc.stringMatching(/^[/:?#. ,]{0,2}[a-z0-9.]{0,6}$/),
    )
    .map((parts) => parts.join('')),
  contexts: [undefined],
});
