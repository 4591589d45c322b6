/**
 * Secrets of webhooks: 32 random bytes, shown to their owner once as `whsec_<base64>`. Signing needs them in
 * clear, so they cannot be hashed. With WEBHOOK_ENCRYPTION_KEY they are stored encrypted (AES-256-GCM), bound
 * to the webhook; without it they are stored as is.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Secret } from '../../core/lib/secret.ts';

/** Standard Webhooks: between 24 and 64 bytes. */
const SECRET_BYTES = 32;

/** The first stored byte is the format. */
const PLAIN = 0;
const ENCRYPTED = 1;

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function generateSecret(): Buffer {
  return randomBytes(SECRET_BYTES);
}

/** The secret as its owner sees it. */
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

/** The stored secret; null when it was encrypted with another key or for another webhook. */
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
    // The authentication tag does not match; nothing else can fail here.
    return null;
  }
}

function encryptionKey(key: Secret): Buffer {
  return Buffer.from(key.reveal(), 'base64');
}
