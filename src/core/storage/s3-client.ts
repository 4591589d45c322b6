/** The connection to an S3 server: timeouts, retries, and options that every server accepts. */
import { createHash } from 'node:crypto';
import { DeleteObjectsCommand, type DeleteObjectsCommandInput, S3Client } from '@aws-sdk/client-s3';
import type { S3Config } from '../storage-config.ts';

export interface S3Limits {
  /** A server of the same network accepts within milliseconds; waiting longer only delays the retry. */
  connectMs: number;
  /**
   * Time without a byte in either direction. Assembling a large multipart upload may take a server that long; a
   * download whose reader pauses is cut too, and resumes when the reader does.
   */
  idleMs: number;
  /** Time from the call to the response's headers, including a part's 5 MiB: at least 45 kB/s. */
  answerMs: number;
  /** Attempts of one call: the waits between them double from 0.1 s, with jitter, so four take about a second. */
  attempts: number;
}

export const s3Limits: S3Limits = {
  connectMs: 5_000,
  idleMs: 60_000,
  answerMs: 120_000,
  attempts: 4,
};

/**
 * A download holds its socket as long as its reader takes, and a call that waits for a socket counts as one that
 * cannot connect: so many more than a process has calls in flight.
 */
const SOCKETS_MAX = 500;

/** Opens a client. It connects at the first call; idle sockets do not keep the process alive. */
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
    // Other servers refuse `x-amz-checksum-*`, or store trailing ones as content. Uploads are protected anyway:
    // the body's SHA-256 is part of the signature, and every server that checks signatures refuses a body with
    // another one. Downloads are compared with our own sums (`object-sum.ts`).
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
 * Deletes many objects at once. Only this call must have a checksum; MD5 is the one that every server knows
 * (https://github.com/aws/aws-sdk-js-v3/blob/main/supplemental-docs/MD5_FALLBACK.md).
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
    // The SDK adds its own checksum earlier in this step.
    { step: 'build', priority: 'low', name: 'md5ForDeleteObjects' },
  );
  return command;
}
