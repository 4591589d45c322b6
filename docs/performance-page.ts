/**
 * The tables of `docs/performance.md` and its images, from `bench/results/latest.json`. Every figure in them comes
 * from that file.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { packageRoot } from '../src/core/lib/package-root.ts';
import { type BenchFile, benchFile, type Run, type StoredResult } from './bench-results.ts';
import { figure, grouped, table } from './markdown-table.ts';
import { type RatioBar, renderRatioPlot } from './ratio-plot.ts';

/** The committed findings. Throws when the file has another form. */
export function readBenchFile(): BenchFile {
  const file = path.join(packageRoot, 'bench', 'results', 'latest.json');
  return benchFile.parse(JSON.parse(readFileSync(file, 'utf8')));
}

const isCall = ({ name }: StoredResult) => /^(api|search|lookups|load-calls)\b/.test(name);

/** The images of the page, by path from the package root. */
export const performancePlots = [
  {
    path: 'docs/images/ratios-of-lists.svg',
    title: 'Lists, exports and imports against their goals',
  },
  {
    path: 'docs/images/ratios-of-calls.svg',
    title: 'Single calls, searches and lookups against their goals',
  },
] as const;

export function renderPerformancePlot(file: BenchFile, plot: (typeof performancePlots)[number]) {
  const ofCalls = plot.path.endsWith('calls.svg');
  const bars = file.results.flatMap((result): RatioBar[] => {
    const { name: label, ratio, goal, better } = result;
    if (isCall(result) !== ofCalls || goal === null || ratio === null) return [];
    return [{ label, ratio, goal, better }];
  });
  return renderRatioPlot(plot.title, bars);
}

/** The generated sections of the page, by name. */
export function performanceSections(file: BenchFile): Record<string, string> {
  const images = performancePlots.map(
    ({ path: image, title }) => `![${title}](${image.replace(/^docs\//, '')})`,
  );
  return {
    machine: describeMachine(file),
    results: [images.join('\n\n'), renderTable(file.results)].join('\n\n'),
    costs: renderCosts(file.results),
    circumstances: renderCircumstances(file.results),
  };
}

function describeMachine({ machine, settings }: BenchFile): string {
  const { cpu, cores, memoryMiB, system } = machine;
  const server = Object.entries((settings.postgres ?? {}) as Record<string, string>);
  const told = ['persons', 'companies', 'rows', 'requests', 'workers'].flatMap((name) =>
    settings[name] === undefined ? [] : [`${name} ${grouped(Number(settings[name]))}`],
  );
  return [
    `Machine: ${cpu}, ${cores} cores, ${grouped(memoryMiB)} MiB, ${system}.`,
    `Settings: ${told.join(', ')}.`,
    `Postgres: ${server.map(([name, value]) => `\`${name}\` ${value}`).join(', ')}.`,
  ].join('\n');
}

function renderTable(results: readonly StoredResult[]): string {
  const rows = results.map((result) => {
    const { name, against, unit, ours, reference, ratio, better, goal, ok } = result;
    const bound = goal === null ? '' : `${better === 'lower' ? '<=' : '>='} ${goal}`;
    const judged = ok === null ? '' : ok ? 'reached' : '**missed**';
    return [
      name,
      against,
      `${figure(ours)} ${unit}`,
      `${figure(reference)} ${unit}`,
      ratio === null ? '-' : String(ratio),
      bound,
      judged,
    ];
  });
  return table(['measurement', 'compared with', 'ours', 'reference', 'ratio', 'goal', ''], rows);
}

/** CPU seconds of both sides: the medians of each kind of process. */
function renderCosts(results: readonly StoredResult[]): string {
  const kinds = ['node', 'postgres', 'others', 'client'];
  const rows = results.flatMap(({ name, runs }) => {
    const costs = (side: 'ours' | 'reference') =>
      kinds.map((kind) => medianOf(runs.map((pair) => cpuSeconds(pair[side], kind))));
    const [ours, reference] = [costs('ours'), costs('reference')];
    if (ours.every((cost) => cost === null)) return [];
    return [[name, ...ours.map(figure), ...reference.map(figure)]];
  });
  const heads = ['ours', 'reference'].flatMap((side) => kinds.map((kind) => `${side}: ${kind}`));
  return table(['measurement', ...heads], rows);
}

/** CPU seconds of a kind of process in a run; null where the machine does not report it. */
export function cpuSeconds(run: Run, kind: string): number | null {
  const cost = (run.cpuSeconds as Record<string, number> | null | undefined)?.[kind];
  return cost ?? null;
}

/** The middle one of those that are known. */
export function medianOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null).sort((a, b) => a - b);
  return known[Math.floor(known.length / 2)] ?? null;
}

/** When and under what load each benchmark ran; their findings may be of different days. */
function renderCircumstances(results: readonly StoredResult[]): string {
  const first = new Map<string, StoredResult>();
  for (const result of results) {
    const { versions } = first.get(result.benchmark) ?? result;
    const merged = { ...versions, ...result.versions };
    first.set(result.benchmark, { ...(first.get(result.benchmark) ?? result), versions: merged });
  }
  const rows = [...first.values()].map((result) => [
    result.benchmark,
    result.measuredAt.slice(0, 16).replace('T', ' '),
    result.commit ?? '-',
    String(result.loadAverageBefore),
    result.busyBefore === null ? '-' : `${Math.round(result.busyBefore * 100)} %`,
    Object.entries(result.versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', '),
  ]);
  const heads = ['benchmark', 'measured (UTC)', 'commit', 'load before', 'cores busy', 'versions'];
  return table(heads, rows);
}
