/** `npm run docs`: writes every generated document. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { packageRoot } from '../src/core/lib/package-root.ts';
import { generatedDocuments } from './generated-documents.ts';

for (const { path: file, render } of generatedDocuments) {
  await writeFile(path.join(packageRoot, file), render());
}
