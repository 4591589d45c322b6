import fc from 'fast-check';
import { normalisePhone } from './phone.ts';
import { describeNormaliser } from './vectors/normaliser.test-suite.ts';

describeNormaliser({
  kind: 'phone',
  normalise: normalisePhone,
  nearly: fc.oneof(
    fc.stringMatching(/^[ +(]?\d{1,4}[) /~.-]{0,3}\d{2,8}[ /,;x-]{0,3}\d{0,11}$/),
    fc.stringMatching(/^\+(44|39|49|225|353|290)0{0,2}\d{4,11}$/),
  ),
  contexts: [undefined, 'GB', 'US', 'DE', 'IT', 'BR', 'AR', 'MX', 'KR', 'BB', 'LT', 'RU'],
});
