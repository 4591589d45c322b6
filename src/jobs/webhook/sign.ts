/**
 * Signatures by Standard Webhooks (github.com/standard-webhooks/standard-webhooks, spec): HMAC-SHA256 over
 * `<id>.<timestamp>.<body>`, one for each secret, newest first, separated by spaces.
 */
import { createHmac } from 'node:crypto';
import { assert } from '../../core/lib/assert.ts';

export interface SignedMessage {
  id: string;
  /** Time of the attempt in whole seconds: receivers reject messages that are minutes old. */
  timestamp: number;
  body: string;
}

/** The headers that authenticate a message and identify repeated deliveries of it. */
export function signatureHeaders(
  { id, timestamp, body }: SignedMessage,
  secrets: readonly Buffer[],
): Record<string, string> {
  assert(secrets.length > 0, 'a message has a secret to sign with');
  const signed = `${id}.${timestamp}.${body}`;
  const signatures = secrets.map(
    (secret) => `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`,
  );
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  };
}
