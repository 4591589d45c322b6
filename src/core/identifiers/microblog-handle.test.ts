import fc from 'fast-check';
import { normaliseMicroblogHandle } from './microblog-handle.ts';
import { describeNormaliser } from './vectors/normaliser.test-suite.ts';

describeNormaliser({
  kind: 'microblog-handle',
  normalise: (text) => normaliseMicroblogHandle(text),
  nearly: fc.stringMatching(/^(https:\/\/)?(x\.com\/|twitter\.com\/)?(#!\/)?@?\w{0,22}[/?#]?$/),
  contexts: [undefined],
});
