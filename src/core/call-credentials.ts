/** The credentials of a call: a key, and the session that presents it for a browser. */
export interface CallCredentials {
  keyId: string;
  /** Hash of the session's token; null for a call that sends the key itself. */
  sessionSha256: Buffer | null;
}
