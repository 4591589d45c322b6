/** Runs the S3 server in a separate process, with one empty bucket. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { CreateBucketCommand, paginateListObjectsV2 } from '@aws-sdk/client-s3';
import { type OptionTexts, readConfig } from '../../src/core/config.ts';
import { packageRoot } from '../../src/core/lib/package-root.ts';
import { openS3Client } from '../../src/core/storage/s3-client.ts';
import type { S3Config } from '../../src/core/storage-config.ts';

const BUCKET = 'enrich';

export interface S3Process extends AsyncDisposable {
  pid: number;
  /** Config options for the service to use the bucket. */
  options: OptionTexts;
  config: S3Config;
  /** Keys of the objects with this prefix, in order. */
  keys(prefix: string): Promise<string[]>;
}

/** Starts the compiled server. */
export async function startS3Process(): Promise<S3Process> {
  const program = path.join(packageRoot, 'dist', 'bench', 'servers', 's3-process.js');
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
  const port = await readPort(child);
  const endpoint = `http://127.0.0.1:${port}`;
  const config = readConfig({
    S3_BUCKET: BUCKET,
    S3_ENDPOINT: endpoint,
    S3_ACCESS_KEY_ID: 'tester',
    S3_SECRET_ACCESS_KEY: 'secret of the tester',
  }).storage as S3Config;
  const client = openS3Client(config);
  await client.send(new CreateBucketCommand({ Bucket: BUCKET }));
  return {
    pid: child.pid ?? 0,
    config,
    options: {
      s3Bucket: BUCKET,
      s3Endpoint: endpoint,
      s3AccessKeyId: 'tester',
      s3SecretAccessKey: 'secret of the tester',
    },
    async keys(prefix) {
      const keys: string[] = [];
      const pages = paginateListObjectsV2({ client }, { Bucket: BUCKET, Prefix: prefix });
      for await (const { Contents = [] } of pages)
        keys.push(...Contents.map(({ Key = '' }) => Key));
      return keys;
    },
    async [Symbol.asyncDispose]() {
      client.destroy();
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function readPort(child: ChildProcess): Promise<number> {
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the S3 server ended with ${code}`);
  });
  const said = once(child.stdout ?? child, 'data').then(([text]) => Number(String(text)));
  return await Promise.race([said, ended]);
}
