/** `npm run docs`: writes every generated document. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { packageRoot } from '../src/core/lib/package-root.ts';
import { generatedDocuments } from './generated-documents.ts';

for (const { path: file, render } of generatedDocuments) {
  await mkdir(path.dirname(path.join(packageRoot, file)), { recursive: true });
  await writeFile(path.join(packageRoot, file), render());
}
