/** The import rules between folders: the layers of the project, lowest first. */
import type { SourceFile } from './source-files.ts';

interface Layer {
  name: string;
  holds: RegExp;
  /** Layers that it may import, in addition to itself. */
  below: string[];
}

/** Folders of `src/core` in sublayers: each may import those of the sublayers below. */
const coreFloors = [
  ['idempotency', 'limits', 'match'],
  // The files of the folder itself, and terms.
  ['graph/(vocabulary|[\\w-]+(?=\\.))'],
  ['graph/import'],
  // A suppression deletes records, and an import leaves out those whom suppressions name.
  ['suppression'],
  ['graph/sources'],
  ['credits', 'search/free-responses'],
  ['accounts', 'keys', 'likely', 'lookups'],
  ['enrich', 'search', 'sessions'],
  ['graph-copy'],
  // Single calls: matching, money, keys and the local copy meet here.
  ['calls'],
];
const ground = ['lib', 'pure', 'base', 'store'];
const coreLayers = layersOf('core', coreFloors, () => ground);
const core = [...ground, ...coreLayers.map(({ name }) => name), 'context'];

/** The same of `src/jobs`. */
const jobFloors = [
  ['queue'],
  ['batch', 'webhook'],
  ['result'],
  ['chunk', 'audit', 'erasure'],
  ['list', 'export', 'imports'],
  ['schedule', 'housekeeping', 'monitor'],
  ['backup'],
];
const belowJobs = [...core, 'formats', 'mapping'];
const jobLayers = layersOf('jobs', jobFloors, (folder) => [
  ...belowJobs,
  ...(folder === 'imports' ? ['sources'] : []),
]);
const jobs = ['jobs', ...jobLayers.map(({ name }) => name)];

/** The same of `src/console`. */
const consoleFloors = [
  ['components'],
  ['search', 'keys', 'webhooks'],
  ['batch'],
  ['credits', 'exports', 'data'],
  ['schedules'],
  ['pages'],
];
const consoleLayers = layersOf('console', consoleFloors, () => ['contract', 'browser']);

function layersOf(
  parent: string,
  floors: readonly (readonly string[])[],
  belowAll: (folder: string) => readonly string[],
): Layer[] {
  return floors.flatMap((folders, floor) =>
    folders.map((folder) => ({
      name: `${parent}/${folder}`,
      holds: new RegExp(`^src/${parent}/${folder}[/.]`),
      below: [
        ...belowAll(folder),
        ...floors
          .slice(0, floor)
          .flat()
          .map((lower) => `${parent}/${lower}`),
      ],
    })),
  );
}

/** The first layer that contains a path applies. */
const layers: Layer[] = [
  // Tests are next to the code they test and may import anything; nothing may import them.
  { name: 'test', holds: /\.(test|test-suite)\.ts$|^(tests|bench)\/|^vitest\./, below: ['any'] },
  { name: 'lib', holds: /^src\/core\/lib\//, below: [] },
  // Text in, value out: identifiers, the filter's parser and its tables of fields; prices.
  {
    name: 'pure',
    holds:
      /^src\/core\/(identifiers\/|search\/(parse|fields)|(graph\/fields|operations|call-credentials)\.ts$)/,
    below: ['lib'],
  },
  {
    name: 'base',
    holds:
      /^src\/core\/(config|option-schemas|storage-config|log|metrics|tracing|open-telemetry)\.ts$/,
    below: ['lib'],
  },
  { name: 'store', holds: /^src\/core\/(db|redis|storage)\//, below: ['lib', 'base'] },
  { name: 'context', holds: /^src\/core\/context\.ts$/, below: core },
  ...coreLayers,
  // The API's document as types: all that its callers know of it.
  { name: 'contract', holds: /^src\/client\/api-types\.ts$/, below: [] },
  // Runs in the browser and is served as files by the API: it imports no code of ours, and nothing imports it.
  ...consoleLayers,
  {
    name: 'browser page',
    holds: /^src\/console\/(main|app|layout|pages)\.tsx?$/,
    below: ['contract', 'browser', ...consoleLayers.map(({ name }) => name)],
  },
  { name: 'browser', holds: /^src\/console\/[\w.-]+$/, below: ['contract'] },
  { name: 'client', holds: /^src\/client\//, below: ['contract'] },
  // Bytes to records and back, independent of jobs and features.
  { name: 'formats', holds: /^src\/formats\//, below: ['lib', 'base', 'store'] },
  // Columns of a file, by their names and contents: of lists, and of sources.
  { name: 'mapping', holds: /^src\/mapping\//, below: [...core, 'formats'] },
  // Files of registers, datasets and CRMs to rows for the import.
  { name: 'sources', holds: /^src\/sources\//, below: belowJobs },
  ...jobLayers,
  // The registry. A folder without a sublayer is an error.
  { name: 'jobs', holds: /^src\/jobs\/[\w.-]+$/, below: [...belowJobs, ...jobs] },
  // What every request passes through: it knows no endpoint.
  { name: 'api/http', holds: /^src\/api\/http\//, below: [...belowJobs, ...jobs] },
  { name: 'api', holds: /^src\/api\//, below: [...belowJobs, ...jobs, 'sources', 'api/http'] },
  { name: 'samples', holds: /^samples\//, below: core },
  { name: 'embedded', holds: /^infra\/embedded\//, below: ['lib'] },
  { name: 'infra', holds: /^infra\//, below: [...core, 'embedded'] },
  // The page of commands is generated from the commands.
  {
    name: 'docs',
    holds: /^docs\//,
    below: [...belowJobs, ...jobs, 'sources', 'api', 'api/http', 'workers'],
  },
  {
    name: 'workers',
    holds: /^workers\//,
    below: [
      ...belowJobs,
      ...jobs,
      'sources',
      'api/http',
      'api',
      'client',
      'contract',
      'samples',
      'embedded',
      'infra',
    ],
  },
];

/** Libraries that belong to a higher layer than the path's. */
const foreignPackages: { holds: RegExp; packages: RegExp }[] = [
  { holds: /^src\/core\//, packages: /^(express|bullmq)(\/|$)/ },
  { holds: /^src\/jobs\//, packages: /^express(\/|$)/ },
  { holds: /^src\/console\//, packages: /^(?!preact(\/|$))/ },
];

/** Imports of one file that violate the layers, as `path:line what`. */
export function findWrongImports(file: SourceFile): string[] {
  const layer = layerOf(file.path);
  if (layer?.below.includes('any')) return [];
  return file.imports.flatMap(({ target, isOurs, line }) => {
    const wrong = isOurs ? isAbove(layer, target) : isForeign(file.path, target);
    return wrong ? [`${file.path}:${line} imports ${target}`] : [];
  });
}

function layerOf(path: string): Layer | undefined {
  return layers.find(({ holds }) => holds.test(path));
}

function isAbove(layer: Layer | undefined, target: string): boolean {
  const name = layerOf(target)?.name;
  if (layer === undefined || name === undefined) return true;
  return name !== layer.name && !layer.below.includes(name);
}

function isForeign(path: string, target: string): boolean {
  return foreignPackages.some(({ holds, packages }) => holds.test(path) && packages.test(target));
}

/** Import cycles, type-only imports included: each once, as `path:line imports b, which ...`. */
export function findCycles(files: readonly SourceFile[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const finished = new Set<string>();
  const trail: { path: string; line: number }[] = [];
  const cycles: string[] = [];
  const visit = (path: string) => {
    const start = trail.findIndex((step) => step.path === path);
    if (start !== -1) {
      const [first, ...others] = trail.slice(start);
      const chain = [...others.map((step) => step.path), path].join(' -> ');
      cycles.push(`${path}:${first?.line} imports itself by way of ${chain}`);
      return;
    }
    if (finished.has(path)) return;
    for (const { target, line } of byPath.get(path)?.imports ?? []) {
      trail.push({ path, line });
      visit(target);
      trail.pop();
    }
    finished.add(path);
  };
  for (const file of files) visit(file.path);
  return cycles;
}
