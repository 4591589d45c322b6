/** The connection to an S3 server: how long to wait, how often to try again, what every server takes. */
import { createHash } from 'node:crypto';
import { DeleteObjectsCommand, type DeleteObjectsCommandInput, S3Client } from '@aws-sdk/client-s3';
import type { S3Config } from '../config.ts';

export interface S3Limits {
  /** A server of the same network accepts within milliseconds; waiting longer only delays the retry. */
  connectMs: number;
  /**
   * Without a byte in either direction. Assembling a large multipart upload may take a server that long;
   * a download that its reader leaves lying is cut too, and goes on when the reader does.
   */
  idleMs: number;
  /** From the call to the answer's headers, a part's 5 MiB included: that is 45 kB/s at least. */
  answerMs: number;
  /** Tries of one call: the waits between them double from 0.1 s, at random, so four take about a second. */
  attempts: number;
}

export const s3Limits: S3Limits = {
  connectMs: 5_000,
  idleMs: 60_000,
  answerMs: 120_000,
  attempts: 4,
};

/**
 * A download holds its socket as long as its reader takes, and a call that waits for a socket counts as
 * one that cannot connect: so many more than a process has calls under way.
 */
const SOCKETS_MAX = 500;

/** Opens a client. Nothing is connected before the first call; idle sockets keep no process alive. */
export function openS3Client(config: S3Config, limits: S3Limits = s3Limits): S3Client {
  const { region, endpoint, credentials } = config;
  const agent = { keepAlive: true, maxSockets: SOCKETS_MAX };
  return new S3Client({
    region,
    ...(endpoint === null ? {} : { endpoint, forcePathStyle: !isAws(endpoint) }),
    ...(credentials === null
      ? {}
      : {
          credentials: {
            accessKeyId: credentials.accessKeyId,
            secretAccessKey: credentials.secretAccessKey.reveal(),
          },
        }),
    maxAttempts: limits.attempts,
    retryMode: 'standard',
    requestHandler: {
      connectionTimeout: limits.connectMs,
      requestTimeout: limits.answerMs,
      throwOnRequestTimeout: true,
      socketTimeout: limits.idleMs,
      httpAgent: agent,
      httpsAgent: agent,
    },
    // Other servers refuse `x-amz-checksum-*`, or store trailing ones as if they were content. What is sent is
    // guarded all the same: its SHA-256 is part of the signature, and every server that checks signatures
    // refuses a body with another one. What is read is compared with our own sums (`object-sum.ts`).
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // Asking before a large body costs a round trip and, in this SDK, a new connection each time.
    expectContinueHeader: false,
  });
}

/** Names under `amazonaws.com` carry the bucket in the host; other servers seldom have the DNS for it. */
function isAws(endpoint: string): boolean {
  return /\.amazonaws\.com(\.cn)?$/.test(new URL(endpoint).hostname);
}

/**
 * Deletes many objects at once. This call alone must have a checksum; MD5 is the one that every server
 * knows (https://github.com/aws/aws-sdk-js-v3/blob/main/supplemental-docs/MD5_FALLBACK.md).
 */
export function deleteObjectsCommand(input: DeleteObjectsCommandInput): DeleteObjectsCommand {
  const command = new DeleteObjectsCommand(input);
  command.middlewareStack.add(
    (next) => (args) => {
      const request = args.request as {
        headers: Record<string, string>;
        body: string | Uint8Array;
      };
      for (const name of Object.keys(request.headers)) {
        if (/^x-amz-(sdk-)?checksum-/i.test(name)) delete request.headers[name];
      }
      request.headers['content-md5'] = createHash('md5').update(request.body).digest('base64');
      return next(args);
    },
    // The SDK adds its own checksum in this step before.
    { step: 'build', priority: 'low', name: 'md5ForDeleteObjects' },
  );
  return command;
}
