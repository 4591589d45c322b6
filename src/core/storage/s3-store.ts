/** Object store in a bucket of S3 or a compatible server. */
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  type S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { assert } from '../lib/assert.ts';
import type { S3Config } from '../storage-config.ts';
import { assertKey, assertPrefix } from './object-key.ts';
import type { ObjectStore, PresignedAddresses } from './object-store.ts';
import { sumOf } from './object-sum.ts';
import { deleteObjectsCommand, openS3Client, type S3Limits, s3Limits } from './s3-client.ts';
import { asStoreError, assertConfirmed, explained, isNotFound, notConfirmed } from './s3-errors.ts';
import { type ObjectAddress, readS3Object, readS3Range } from './s3-read.ts';
import { uploadToS3 } from './s3-upload.ts';

type AddressOf = (key: string) => ObjectAddress;

/** Opens a store whose objects are in a bucket. Errors of the server are `AppError` 503 `store_unavailable`. */
export function openS3Store(config: S3Config, limits: S3Limits = s3Limits): ObjectStore {
  const client = openS3Client(config, limits);
  const folder = config.prefix === '' ? '' : `${config.prefix}/`;
  const addressOf = (key: string): ObjectAddress => {
    assertKey(key);
    return { Bucket: config.bucket, Key: folder + key };
  };
  return {
    putStream: async (key, source) => uploadToS3(client, addressOf(key), source),
    put: async (key, bytes) => {
      const body = joined(bytes);
      const sum = sumOf([body]);
      const command = new PutObjectCommand({ ...addressOf(key), Body: body });
      const { ETag } = await explained(key, client.send(command));
      assertConfirmed(ETag);
      return sum;
    },
    get: async (key, range) => {
      assert(range.from <= range.to, `range of ${key} is not reversed`);
      // S3 ignores the header of an empty range and sends the whole object.
      const isEmpty = range.from === range.to;
      const asked = isEmpty ? { from: range.from, to: range.from + 1 } : range;
      const bytes = await explained(key, readS3Range(client, addressOf(key), asked, limits.idleMs));
      return isEmpty ? Buffer.alloc(0) : bytes;
    },
    getStream: (key, range) => {
      assert(range === undefined || range.from < range.to, `range of ${key} is not empty`);
      const explain = (error: unknown) => asStoreError(error, key);
      return readS3Object(client, addressOf(key), range, { idleMs: limits.idleMs, explain });
    },
    head: async (key) => head(client, addressOf(key)),
    delete: async (key) => {
      await explained(key, deleteObject(client, addressOf(key)));
    },
    deletePrefix: async (prefix) => {
      assertPrefix(prefix);
      await explained(prefix, deletePrefix(client, config.bucket, folder + prefix));
    },
    list: (prefix) => {
      if (prefix !== undefined) assertPrefix(prefix);
      return list(client, config.bucket, folder, prefix);
    },
    presigned: presignedAddresses(client, addressOf),
  };
}

function joined(bytes: Uint8Array[]): Uint8Array {
  const [first] = bytes;
  return bytes.length === 1 && first !== undefined ? first : Buffer.concat(bytes);
}

async function head(client: S3Client, address: ObjectAddress): Promise<number | null> {
  try {
    const { ContentLength, ETag } = await client.send(new HeadObjectCommand(address));
    assertConfirmed(ETag);
    return ContentLength ?? 0;
  } catch (error) {
    if (isNotFound(error)) return null;
    throw asStoreError(error, address.Key);
  }
}

async function deleteObject(client: S3Client, address: ObjectAddress): Promise<void> {
  try {
    const { $metadata } = await client.send(new DeleteObjectCommand(address));
    // S3 responds with 204.
    const isDone = $metadata.httpStatusCode === 204 || (await head(client, address)) === null;
    if (!isDone) throw notConfirmed();
  } catch (error) {
    // S3 accepts the deletion of a missing object; some other servers return an error.
    if (!isNotFound(error)) throw error;
  }
}

async function* list(
  client: S3Client,
  bucket: string,
  folder: string,
  prefix = '',
): AsyncGenerator<string> {
  try {
    const pages = paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: folder + prefix });
    for await (const { Name, Contents = [] } of pages) {
      assertConfirmed(Name);
      for (const { Key = '' } of Contents) yield Key.slice(folder.length);
    }
  } catch (error) {
    throw asStoreError(error, folder);
  }
}

async function deletePrefix(client: S3Client, bucket: string, prefix: string): Promise<void> {
  let failed = 0;
  let first: { Key?: string | undefined; Code?: string | undefined } | undefined;
  // A page and a call of DeleteObjects both hold 1,000 keys.
  const pages = paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: prefix });
  for await (const { Name, Contents = [] } of pages) {
    assertConfirmed(Name);
    if (Contents.length === 0) continue;
    const command = deleteObjectsCommand({
      Bucket: bucket,
      Delete: { Objects: Contents.map(({ Key }) => ({ Key })) },
    });
    const { Deleted = [], Errors = [] } = await client.send(command);
    if (Deleted.length + Errors.length < Contents.length) throw notConfirmed();
    failed += Errors.length;
    first ??= Errors[0];
  }
  if (first === undefined) return;
  throw new Error(`${failed} objects were not deleted, the first is ${first.Key}: ${first.Code}`);
}

function presignedAddresses(client: S3Client, addressOf: AddressOf): PresignedAddresses {
  return {
    presignPut: async (key, { contentType, expiresSeconds: expiresIn }) => {
      const input = addressOf(key);
      if (contentType === undefined) {
        return getSignedUrl(client, new PutObjectCommand(input), { expiresIn });
      }
      // The header is not signed unless requested, and then any type would be accepted.
      const signableHeaders = new Set(['host', 'content-type']);
      const command = new PutObjectCommand({ ...input, ContentType: contentType });
      return getSignedUrl(client, command, { expiresIn, signableHeaders });
    },
    presignGet: async (key, { fileName, expiresSeconds }) => {
      assert(/^[\w.-]+$/.test(fileName), `file name ${fileName} is plain`);
      const command = new GetObjectCommand({
        ...addressOf(key),
        ResponseContentDisposition: `attachment; filename="${fileName}"`,
      });
      return getSignedUrl(client, command, { expiresIn: expiresSeconds });
    },
  };
}
