import fc from 'fast-check';
import { normaliseEmail } from './email.ts';
import { describeNormaliser } from './vectors/normaliser.test-suite.ts';

describeNormaliser({
  kind: 'email',
  normalise: (text) => normaliseEmail(text),
  nearly: fc.stringMatching(
    /^['"<]?[a-zA-ZéßİK.'+ -]{0,12} ?@ ?[a-zA-Zéßİ.-]{0,12}[.。]com?[>;, ]{0,2}$/u,
  ),
  contexts: [undefined],
});
