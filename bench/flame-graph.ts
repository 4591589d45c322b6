/**
 * Renders a V8 CPU profile as a flame graph: call stacks, each as wide as its share of the busy time. The
 * picture is Brendan Gregg's ("The Flame Graph", CACM 59/6, 2016), upside down.
 */
import { z } from 'zod';

/** The fields read from a `.cpuprofile` (the Profile of the DevTools protocol). */
export const cpuProfile = z.object({
  nodes: z.array(
    z.object({
      id: z.number(),
      callFrame: z.object({ functionName: z.string(), url: z.string(), lineNumber: z.number() }),
      children: z.array(z.number()).optional(),
    }),
  ),
  samples: z.array(z.number()),
  timeDeltas: z.array(z.number()),
});

export type CpuProfile = z.infer<typeof cpuProfile>;

interface Frame {
  name: string;
  /** The file, from the package root; empty for code without a file. */
  file: string;
  /** Microseconds, including callees. */
  time: number;
  /** Microseconds without callees. */
  own: number;
  callees: Map<string, Frame>;
}

const WIDTH = 1200;
const ROW = 17;
const TOP = 30;
/** Narrower frames are omitted. */
const PIXELS_MIN = 1.5;
/** Deeper frames are module loading. */
const ROWS_MAX = 24;
const CHARACTER_PIXELS = 6.6;
const TOLD = 12;

/** Renders the graph. File names are relative to `root`. */
export function renderFlameGraph(title: string, profile: CpuProfile, root: string): string {
  const all = callTree(profile, root);
  const rows: string[][] = [];
  draw(all, { depth: 0, x: 0, perMicrosecond: WIDTH / all.time }, rows);
  const height = TOP + rows.length * ROW + 8;
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title desc">`,
    `  <title id="title">${escapeXml(title)}</title>`,
    `  <desc id="desc">${escapeXml(`Most time of their own: ${ownTimes(all)}.`)}</desc>`,
    '  <style>text { font: 11px ui-monospace, monospace; fill: #1f2328; } rect { stroke: #fff; stroke-width: 0.5; } .ours { fill: #8fd3bd; } .library { fill: #f2c38f; } .node { fill: #c9d1d9; }</style>',
    `  <rect class="node" x="0" y="0" width="${WIDTH}" height="${height}" style="fill:#fff"/>`,
    `  <text x="4" y="18">${escapeXml(title)}</text>`,
    ...rows.flat(),
    '</svg>',
  ];
  return `${lines.join('\n')}\n`;
}

/** The calls of all samples, added up, without idle time. */
function callTree({ nodes, samples, timeDeltas }: CpuProfile, root: string): Frame {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((c) => [c, id])));
  const times = new Map<number, number>();
  for (const [index, id] of samples.entries()) {
    times.set(id, (times.get(id) ?? 0) + (timeDeltas[index] ?? 0));
  }
  const all: Frame = { name: 'all', file: '', time: 0, own: 0, callees: new Map() };
  for (const [id, time] of times) {
    const stack: { name: string; file: string }[] = [];
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const { functionName, url } = byId.get(at)?.callFrame ?? { functionName: '', url: '' };
      stack.unshift({ name: functionName || '(anonymous)', file: shorten(url, root) });
    }
    if (stack.at(-1)?.name === '(idle)') continue;
    let frame = all;
    frame.time += time;
    // The first is the root of V8's own tree.
    for (const { name, file } of stack.slice(1)) {
      const key = `${name} ${file}`;
      const callee = frame.callees.get(key) ?? { name, file, time: 0, own: 0, callees: new Map() };
      frame.callees.set(key, callee);
      callee.time += time;
      frame = callee;
    }
    frame.own += time;
  }
  return all;
}

function shorten(url: string, root: string): string {
  const path = url.replace('file://', '').replace(`${root}/`, '');
  return path.replace(/^dist\//, '').replace(/^.*node_modules\//, 'node_modules/');
}

function draw(
  frame: Frame,
  { depth, x, perMicrosecond }: { depth: number; x: number; perMicrosecond: number },
  rows: string[][],
): void {
  const width = frame.time * perMicrosecond;
  if (width < PIXELS_MIN || depth === ROWS_MAX) return;
  const y = TOP + depth * ROW;
  const words = `${frame.name}${frame.file === '' ? '' : ` ${frame.file}`}`;
  const kind = frame.file.startsWith('node_modules/')
    ? 'library'
    : frame.file === '' || frame.file.startsWith('node:')
      ? 'node'
      : 'ours';
  const shown = words.slice(0, Math.max(0, Math.floor(width / CHARACTER_PIXELS) - 1));
  const share = (width / WIDTH) * 100;
  const line = [
    `  <g><title>${escapeXml(words)}: ${share.toFixed(1)} %</title>`,
    `<rect class="${kind}" x="${x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${ROW - 1}"/>`,
    shown.length > 2
      ? `<text x="${(x + 3).toFixed(1)}" y="${y + 12}">${escapeXml(shown)}</text>`
      : '',
    '</g>',
  ].join('');
  rows[depth] = [...(rows[depth] ?? []), line];
  let at = x;
  const callees = [...frame.callees.values()].sort((a, b) => b.time - a.time);
  for (const callee of callees) {
    draw(callee, { depth: depth + 1, x: at, perMicrosecond }, rows);
    at += callee.time * perMicrosecond;
  }
}

/** Functions by self time, whatever their callers. */
function ownTimes(all: Frame): string {
  const own = new Map<string, number>();
  const add = (frame: Frame) => {
    const name = frame.file === '' ? frame.name : `${frame.name} (${frame.file})`;
    own.set(name, (own.get(name) ?? 0) + frame.own);
    for (const callee of frame.callees.values()) add(callee);
  };
  add(all);
  return [...own]
    .sort(([, a], [, b]) => b - a)
    .slice(0, TOLD)
    .map(([name, time]) => `${name} ${((time / all.time) * 100).toFixed(1)} %`)
    .join(', ');
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
