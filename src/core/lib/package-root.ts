import { existsSync } from 'node:fs';
import path from 'node:path';
import { must } from './assert.ts';

/**
 * Absolute path of the installed package: the folder that holds `package.json`. The same code runs
 * from `src/` under the test runner and from `dist/src/` when compiled, so the distance differs.
 */
export const packageRoot: string = findPackageRoot(import.meta.dirname);

function findPackageRoot(from: string): string {
  let folder = from;
  while (!existsSync(path.join(folder, 'package.json'))) {
    const parent = path.dirname(folder);
    must(parent === folder ? null : parent, `package.json above ${from}`);
    folder = parent;
  }
  return folder;
}
