/**
 * The console's files for the browser: the modules compiled by `npm run build`, the stylesheet, and Preact from
 * node_modules. Nothing is bundled: an import map resolves bare imports.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { must } from '../../core/lib/assert.ts';
import { packageRoot } from '../../core/lib/package-root.ts';

export interface Asset {
  type: string;
  /** The bytes by content encoding. */
  bytes: Record<'identity' | 'gzip' | 'br', Buffer>;
}

export interface ConsoleAssets {
  /** The HTML page. */
  index: Asset;
  /** The path of the stylesheet. */
  stylesheet: string;
  /** The hash of the page's inline import map, in the form of a Content-Security-Policy. */
  importMapHash: string;
  /** All other files by path. Each path contains a hash of all files, so its content never changes. */
  files: ReadonlyMap<string, Asset>;
}

const source = path.join('src', 'console');
const compiled = path.join(packageRoot, 'dist', source);
const stylesheet = path.join(packageRoot, source, 'style.css');

/** Bare imports of the modules and their files. */
const packages: Record<string, string> = {
  preact: 'preact/dist/preact.mjs',
  'preact/hooks': 'preact/hooks/dist/hooks.mjs',
  'preact/jsx-runtime': 'preact/jsx-runtime/dist/jsxRuntime.mjs',
};

const JAVASCRIPT = 'text/javascript; charset=utf-8';

let reading: Promise<ConsoleAssets> | undefined;

/**
 * Reads and compresses everything, once. Rejects when the console has not been built, or a file cannot be read, as while
 * connections have all descriptors: the next call reads again.
 */
export function readConsoleAssets(): Promise<ConsoleAssets> {
  reading ??= readAssets().catch((error: unknown) => {
    reading = undefined;
    throw error;
  });
  return reading;
}

async function readAssets(): Promise<ConsoleAssets> {
  const modules = await readModules();
  const style = await readFile(stylesheet, 'utf8');
  const all = [...modules, ['style.css', style] as const];
  const base = `/console/${createHash('sha256').update(JSON.stringify(all)).digest('hex').slice(0, 16)}`;
  const files = new Map<string, Asset>();
  // One by one: each compression takes megabytes from its call to its end, and all at once took 200.
  for (const [name, text] of all) {
    const type = name.endsWith('.css') ? 'text/css; charset=utf-8' : JAVASCRIPT;
    files.set(`${base}/${name}`, await toAsset(type, text));
  }
  const imports = Object.keys(packages).map((name) => [name, `${base}/${vendored(name)}`]);
  const importMap = JSON.stringify({ imports: Object.fromEntries(imports) });
  const index = renderIndex(base, importMap, preloads(modules));
  return {
    index: await toAsset('text/html; charset=utf-8', index),
    stylesheet: `${base}/style.css`,
    importMapHash: createHash('sha256').update(importMap).digest('base64'),
    files,
  };
}

/** Returns the modules by their paths below the base, without source map comments. */
async function readModules(): Promise<Map<string, string>> {
  const names = (await readdir(compiled, { recursive: true }).catch(() => []))
    .filter((name) => name.endsWith('.js'))
    .map((name) => name.replaceAll(path.sep, '/'))
    .sort();
  must(names[0], 'compiled console: run `npm run build`');
  const files = [
    ...names.map((name) => ({ name, file: path.join(compiled, name) })),
    ...Object.entries(packages).map(([name, file]) => ({
      name: vendored(name),
      file: path.join(packageRoot, 'node_modules', file),
    })),
  ];
  const texts = await Promise.all(files.map(({ file }) => readFile(file, 'utf8')));
  return new Map(
    files.map(({ name }, at) => [
      name,
      (texts[at] ?? '').replace(/^\/\/# sourceMappingURL=.*$/m, ''),
    ]),
  );
}

function vendored(name: string): string {
  return `vendor/${name.replace('/', '-')}.js`;
}

/** Returns every module that `main.js` imports statically, to be fetched in parallel. */
function preloads(modules: ReadonlyMap<string, string>): string[] {
  const found = new Set<string>(['main.js']);
  for (const name of found) {
    const text = modules.get(name) ?? '';
    for (const [, specifier = ''] of text.matchAll(/\bfrom ?['"]([^'"]+)['"]/g)) {
      const target = specifier.startsWith('.')
        ? path.posix.join(path.posix.dirname(name), specifier)
        : vendored(specifier);
      if (modules.has(target)) found.add(target);
    }
  }
  return [...found];
}

function renderIndex(base: string, importMap: string, modules: readonly string[]): string {
  const preload = modules.map((name) => `<link rel="modulepreload" href="${base}/${name}">`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Enrichment</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${base}/style.css">
<script type="importmap">${importMap}</script>
${preload.join('\n')}
<script type="module" src="${base}/main.js"></script>
</head>
<body>
<noscript>This page needs JavaScript. The <a href="/docs">API and its documentation</a> do not.</noscript>
</body>
</html>
`;
}

const compressGzip = promisify(gzip);
const compressBrotli = promisify(brotliCompress);

async function toAsset(type: string, text: string): Promise<Asset> {
  const identity = Buffer.from(text);
  const quality = { [constants.BROTLI_PARAM_QUALITY]: 9 };
  const [gzipped, br] = await Promise.all([
    compressGzip(identity, { level: 9 }),
    compressBrotli(identity, { params: quality }),
  ]);
  return { type, bytes: { identity, gzip: gzipped, br } };
}
