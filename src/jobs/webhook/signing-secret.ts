/**
 * Secrets of webhooks: 32 random bytes, shown to their owner once as `whsec_<base64>`. They have to be
 * read again to sign, so no hash of them will do. With WEBHOOK_ENCRYPTION_KEY what is stored is
 * AES-256-GCM of the bytes, bound to the webhook; without it they are stored as they are.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Secret } from '../../core/lib/secret.ts';

/** Standard Webhooks: between 24 and 64 bytes. */
const SECRET_BYTES = 32;

/** The first byte of what is stored says how. */
const PLAIN = 0;
const ENCRYPTED = 1;

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function generateSecret(): Buffer {
  return randomBytes(SECRET_BYTES);
}

/** The secret as its owner keeps it. */
export function showSecret(secret: Buffer): string {
  return `whsec_${secret.toString('base64')}`;
}

/** The secret as it is stored for this webhook. */
export function sealSecret(secret: Buffer, webhookId: string, key: Secret | undefined): Buffer {
  if (key === undefined) return Buffer.concat([Buffer.of(PLAIN), secret]);
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, encryptionKey(key), nonce).setAAD(Buffer.from(webhookId));
  const encrypted = Buffer.concat([cipher.update(secret), cipher.final()]);
  return Buffer.concat([Buffer.of(ENCRYPTED), nonce, encrypted, cipher.getAuthTag()]);
}

/** The secret that is stored; null when it was encrypted with another key, or for another webhook. */
export function openSecret(
  stored: Buffer,
  webhookId: string,
  key: Secret | undefined,
): Buffer | null {
  const rest = stored.subarray(1);
  if (stored[0] === PLAIN) return rest;
  if (key === undefined) return null;
  const nonce = rest.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(CIPHER, encryptionKey(key), nonce, {
    authTagLength: TAG_BYTES,
  })
    .setAAD(Buffer.from(webhookId))
    .setAuthTag(rest.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([
      decipher.update(rest.subarray(NONCE_BYTES, -TAG_BYTES)),
      decipher.final(),
    ]);
  } catch {
    // The tag does not fit, which is all that an authenticated cipher can fail of here.
    return null;
  }
}

function encryptionKey(key: Secret): Buffer {
  return Buffer.from(key.reveal(), 'base64');
}
