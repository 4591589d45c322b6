import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { signatureHeaders } from './sign.ts';
import { generateSecret, showSecret } from './signing-secret.ts';

const now = () => Math.floor(Date.now() / 1000);

test('the signature is that of the published example', () => {
  const secret = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64');
  const message = {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestamp: 1_614_265_330,
    body: '{"test": 2432232314}',
  };
  expect(signatureHeaders(message, [secret])).toEqual({
    'webhook-id': message.id,
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

test('an independent verifier accepts every message, and none that was changed', () => {
  fc.assert(
    fc.property(fc.json(), fc.uuid(), (body, id) => {
      const secret = generateSecret();
      const verifier = new Webhook(showSecret(secret));
      const headers = signatureHeaders({ id, timestamp: now(), body }, [secret]);
      expect(verifier.verify(body, headers)).toEqual(JSON.parse(body));
      expect(() => verifier.verify(`${body} `, headers)).toThrow();
      expect(() => verifier.verify(body, { ...headers, 'webhook-id': `${id}0` })).toThrow();
      const later = String(now() + 1);
      expect(() => verifier.verify(body, { ...headers, 'webhook-timestamp': later })).toThrow();
    }),
  );
});

test('with two secrets a message verifies with either, and with no other', () => {
  const [old, current, other] = [generateSecret(), generateSecret(), generateSecret()];
  const headers = signatureHeaders({ id: 'a', timestamp: now(), body: '{}' }, [current, old]);
  for (const known of [old, current]) {
    expect(new Webhook(showSecret(known)).verify('{}', headers)).toEqual({});
  }
  expect(() => new Webhook(showSecret(other)).verify('{}', headers)).toThrow();
});
