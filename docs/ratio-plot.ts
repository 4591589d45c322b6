/**
 * Bars of ratios against their goals, as an SVG image that reads in light and dark and without eyes. A bar
 * is the share of its goal that a ratio takes: one that ends before the line has reached it.
 */

export interface RatioBar {
  label: string;
  ratio: number;
  goal: number;
  better: 'lower' | 'higher';
}

const WIDTH = 760;
const ROW_HEIGHT = 46;
const TOP = 40;
const GOAL_X = 480;
/** A bar that misses its goal by more than this is cut there; its label has the figure. */
const SHARES_MAX = 1.5;

const style = `
    text { font: 13px system-ui, sans-serif; fill: #1f2328; }
    .faint { fill: #59636e; }
    .reached { fill: #1a7f64; }
    .missed { fill: #b35900; }
    .goal { stroke: #59636e; stroke-dasharray: 4 3; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3; }
      .faint { fill: #9198a1; }
      .reached { fill: #3fb795; }
      .missed { fill: #e0883a; }
      .goal { stroke: #9198a1; }
    }`;

/** The image. `title` and a sentence for each bar are what a screen reader says. */
export function renderRatioPlot(title: string, bars: readonly RatioBar[]): string {
  const height = TOP + Math.max(bars.length, 1) * ROW_HEIGHT + 8;
  const sentences = bars.map((bar) => `${bar.label}: ${describe(bar)}.`).join(' ');
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title desc">`,
    `  <title id="title">${escapeXml(title)}</title>`,
    `  <desc id="desc">${escapeXml(sentences || 'Nothing is measured yet.')}</desc>`,
    `  <style>${style}\n  </style>`,
    `  <text class="faint" x="${GOAL_X}" y="18" text-anchor="middle">goal</text>`,
    `  <line class="goal" x1="${GOAL_X}" y1="26" x2="${GOAL_X}" y2="${height - 8}"/>`,
    ...bars.flatMap((bar, index) => renderBar(bar, TOP + index * ROW_HEIGHT)),
    '</svg>',
  ];
  return `${lines.join('\n')}\n`;
}

function renderBar(bar: RatioBar, y: number): string[] {
  const share = shareOfGoal(bar);
  const length = Math.round(Math.min(share, SHARES_MAX) * GOAL_X);
  const kind = share <= 1 ? 'reached' : 'missed';
  return [
    `  <text x="0" y="${y + 12}">${escapeXml(bar.label)} <tspan class="faint">${escapeXml(describe(bar))}</tspan></text>`,
    `  <rect class="${kind}" x="0" y="${y + 19}" width="${length}" height="14" rx="2"/>`,
  ];
}

/** At most 1 when the goal is reached, whichever way is better. */
function shareOfGoal({ ratio, goal, better }: RatioBar): number {
  return better === 'lower' ? ratio / goal : goal / ratio;
}

function describe(bar: RatioBar): string {
  const bound = bar.better === 'lower' ? 'at most' : 'at least';
  const judged = shareOfGoal(bar) <= 1 ? 'reached' : 'missed';
  return `${bar.ratio}, goal ${bound} ${bar.goal}, ${judged}`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
