import { expect, test } from 'vitest';
import type { BenchFile } from '../docs/bench-results.ts';
import { performanceSections, readBenchFile } from '../docs/performance-page.ts';
import { renderRatioPlot } from '../docs/ratio-plot.ts';

test('a bar that misses its goal looks and reads differently, whichever direction is better', () => {
  const plot = renderRatioPlot('Speed & size', [
    { label: 'a', ratio: 1.1, goal: 1.2, better: 'lower' },
    { label: 'b', ratio: 1.3, goal: 1.2, better: 'lower' },
    { label: 'c', ratio: 0.9, goal: 0.8, better: 'higher' },
    { label: 'd', ratio: 0.4, goal: 0.8, better: 'higher' },
  ]);
  const bars = [...plot.matchAll(/<rect class="(\w+)"[^>]* width="(\d+)"/g)];
  expect(bars.map(([, kind]) => kind)).toEqual(['reached', 'missed', 'reached', 'missed']);
  const goal = Number(/<line class="goal" x1="(\d+)"/.exec(plot)?.[1]);
  expect(bars.map(([, , width]) => Number(width) <= goal)).toEqual([true, false, true, false]);
  expect(plot).toContain('<title id="title">Speed &amp; size</title>');
  expect(plot).toContain('b: 1.3, goal at most 1.2, missed. c: 0.9, goal at least 0.8, reached.');
});

test('the page shows missed goals, and no figure where there is none', () => {
  const file = readBenchFile();
  const [first] = file.results;
  const judged = { unit: 's', better: 'lower', reference: 1, goal: 1, ok: false };
  const unknown = { ...first, ...judged, name: 'x', ours: null, ratio: null, runs: [] };
  const results = [unknown as BenchFile['results'][0]];
  const page = Object.values(performanceSections({ ...file, results })).join('\n');
  expect(page).toMatch(/^\| x \| .* \| - s \| [\d.]+ s \| - \| <= 1 \| \*\*missed\*\* \|$/m);
  expect(page).not.toContain('NaN');
});
