/** The storage of uploads and results, from its options. */
import path from 'node:path';
import type { Secret } from './lib/secret.ts';

/** An S3 bucket and how to reach it. */
export interface S3Config {
  provider: 's3';
  bucket: string;
  region: string;
  /** Null for the AWS endpoint. */
  endpoint: string | null;
  /** Prefix of every key, without the closing slash; empty for none. */
  prefix: string;
  /** Null when the SDK finds them. */
  credentials: { accessKeyId: string; secretAccessKey: Secret } | null;
}

/** Storage of uploads and results. */
export type StorageConfig = { provider: 'files'; folder: string } | S3Config;

/** The store as the subject of a sentence for operators: a bucket with its server. */
export function describeStorage(storage: StorageConfig): string {
  if (storage.provider === 'files') return `The folder ${storage.folder}`;
  const { bucket, prefix, endpoint, region } = storage;
  const server = endpoint ?? `AWS in ${region}`;
  return `The bucket ${bucket} at ${server}${prefix === '' ? '' : ` with the prefix ${prefix}`}`;
}

interface StorageOptions {
  dataDir: string;
  s3Bucket: string | undefined;
  s3Region: string;
  s3Endpoint: string | undefined;
  s3Prefix: string;
  s3AccessKeyId: string | undefined;
  s3SecretAccessKey: Secret | undefined;
}

/** Returns the storage that the options mean: a bucket when one is named, otherwise a folder of the data folder. */
export function storageOf(options: StorageOptions): StorageConfig {
  const { dataDir, s3Bucket, s3Region, s3Endpoint, s3Prefix } = options;
  const { s3AccessKeyId: accessKeyId, s3SecretAccessKey: secretAccessKey } = options;
  if (s3Bucket === undefined) return { provider: 'files', folder: path.join(dataDir, 'objects') };
  const isGiven = accessKeyId !== undefined && secretAccessKey !== undefined;
  return {
    provider: 's3',
    bucket: s3Bucket,
    region: s3Region,
    endpoint: s3Endpoint ?? null,
    prefix: s3Prefix,
    credentials: isGiven ? { accessKeyId, secretAccessKey } : null,
  };
}
