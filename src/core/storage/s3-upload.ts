/** Uploads a stream to S3 within the memory of one part. */
import type { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import type { StreamSum } from './object-store.ts';
import { emptySum, summed } from './object-sum.ts';
import { assertConfirmed, explained } from './s3-errors.ts';
import type { ObjectAddress } from './s3-read.ts';

/**
 * A multipart upload holds one part, whose memory it uses again: parts that were not collected yet filled the memory of a process
 * with twenty uploads. The smallest part that S3 accepts, times its 10,000 parts, is 50 GB.
 */
export const PART_BYTES = 5 * 1024 * 1024;
/** Memory of a part at first: most uploads are short. */
const FIRST_BYTES = 64 * 1024;

/**
 * Stores a source of at most one part by PutObject, a longer one as a multipart upload; both appear atomically. Returns its sum.
 * Throws the error of the source, or an `AppError` of the store; the source is then destroyed, and nothing is left.
 */
export async function uploadToS3(
  client: S3Client,
  address: ObjectAddress,
  source: Readable,
): Promise<StreamSum> {
  const sum = emptySum();
  const upload = openUpload(client, address);
  try {
    for await (const { bytes, isLast } of inParts(summed(source, sum))) {
      await explained(address.Key, upload.add(bytes, isLast));
    }
    await explained(address.Key, upload.complete());
    return sum;
  } catch (error) {
    source.destroy();
    await upload.abort();
    throw error;
  }
}

/** An object in the making. Its methods throw the client's errors, and as `assertConfirmed`. */
function openUpload(client: S3Client, address: ObjectAddress) {
  let UploadId: string | undefined;
  const Parts: CompletedPart[] = [];
  return {
    /** Stores the next part; one at a time. */
    async add(Body: Buffer, isLast: boolean): Promise<void> {
      if (isLast && UploadId === undefined) {
        const { ETag } = await client.send(new PutObjectCommand({ ...address, Body }));
        assertConfirmed(ETag);
        return;
      }
      UploadId ??= (await client.send(new CreateMultipartUploadCommand(address))).UploadId;
      assertConfirmed(UploadId);
      const PartNumber = Parts.length + 1;
      const part = new UploadPartCommand({ ...address, UploadId, PartNumber, Body });
      const { ETag } = await client.send(part);
      assertConfirmed(ETag);
      Parts.push({ PartNumber, ETag });
    },
    async complete(): Promise<void> {
      if (UploadId === undefined) return;
      const MultipartUpload = { Parts };
      const command = { ...address, UploadId, MultipartUpload };
      const { ETag } = await client.send(new CompleteMultipartUploadCommand(command));
      assertConfirmed(ETag);
    },
    /** Deletes the parts. What is left after an error is deleted by a rule of the bucket. */
    async abort(): Promise<void> {
      if (UploadId === undefined) return;
      const command = new AbortMultipartUploadCommand({ ...address, UploadId });
      await client.send(command).catch(() => {});
    },
  };
}

/**
 * The bytes in parts of the same length, the last of which may be shorter, or empty when it is the only one. All are in the same
 * memory: a part is overwritten when the next one is read.
 */
export async function* inParts(
  blocks: AsyncIterable<Buffer>,
): AsyncGenerator<{ bytes: Buffer; isLast: boolean }> {
  let part: Buffer = Buffer.alloc(0);
  let length = 0;
  for await (const block of blocks) {
    for (let at = 0; at < block.length; ) {
      if (length === PART_BYTES) {
        yield { bytes: part, isLast: false };
        length = 0;
      }
      if (length === part.length) part = enlarged(part);
      const copied = block.copy(part, length, at);
      at += copied;
      length += copied;
    }
  }
  yield { bytes: part.subarray(0, length), isLast: true };
}

function enlarged(part: Buffer): Buffer {
  const larger = Buffer.allocUnsafeSlow(Math.min(PART_BYTES, 2 * part.length || FIRST_BYTES));
  part.copy(larger);
  return larger;
}
