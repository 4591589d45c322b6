/**
 * Pages that people write, with tables that are generated: each between `<!-- generated: NAME -->` and
 * `<!-- end -->`. The marks stay in the page, so that it is its own template.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { packageRoot } from '../src/core/lib/package-root.ts';

const SECTION = /(<!-- generated: ([\w-]+) -->\n).*?(<!-- end -->)/gs;

/** Returns the committed page, a path from the package root, with these texts in its sections, by name. */
export function renderPage(file: string, texts: Readonly<Record<string, string>>): string {
  return fillSections(readFileSync(path.join(packageRoot, file), 'utf8'), texts);
}

/** Returns the page with its sections replaced. Throws when the page's sections are not exactly those of `texts`. */
export function fillSections(page: string, texts: Readonly<Record<string, string>>): string {
  const names = [...page.matchAll(SECTION)].map(([, , name]) => name);
  if (names.toSorted().join() !== Object.keys(texts).toSorted().join()) {
    throw new Error(`the page has the sections ${names}, and texts are ${Object.keys(texts)}`);
  }
  return page.replace(
    SECTION,
    (_, open: string, name: string, close: string) => `${open}\n${texts[name]?.trim()}\n\n${close}`,
  );
}
