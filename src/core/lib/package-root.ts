import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { must } from './assert.ts';

/**
 * Absolute path of the installed package: the folder that holds `package.json`. The same code runs
 * from `src/` under the test runner and from `dist/src/` when compiled, so the distance differs.
 */
export const packageRoot: string = findPackageRoot(import.meta.dirname);

/** The version of the installed package, as `package.json` has it. */
export function readVersion(): string {
  const text = readFileSync(path.join(packageRoot, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

function findPackageRoot(from: string): string {
  let folder = from;
  while (!existsSync(path.join(folder, 'package.json'))) {
    const parent = path.dirname(folder);
    must(parent === folder ? null : parent, `package.json above ${from}`);
    folder = parent;
  }
  return folder;
}
