/**
 * The first page of the web console for a new visitor: from an empty cache until it is usable. A page is usable
 * when its first field exists and no script has blocked the browser since.
 */
import type { Browser } from 'playwright-core';
import type { BenchStack } from './bench-stack.ts';
import type { BenchResult } from './benchmark.ts';
import { startChromium } from './browser.ts';
import { median } from './interleave.ts';

/** Still perceived as immediate. */
const INTERACTIVE_MS_MAX = 1000;

interface Visit {
  interactiveMs: number;
  /** Bytes of all responses with headers, as sent. */
  bytes: number;
}

/** Opens the page that many times, each in a new browser. */
export async function measureConsole(stack: BenchStack, runs: number): Promise<BenchResult[]> {
  const browser = await startChromium();
  try {
    const visits: Visit[] = [];
    // The first one warms the service, not the browser.
    for (let run = 0; run <= runs; run++) visits.push(await visit(browser, stack.url));
    const measured = visits.slice(1);
    return [
      {
        name: 'console-first-page',
        unit: 'ms',
        ours: median(measured.map(({ interactiveMs }) => interactiveMs)),
        reference: INTERACTIVE_MS_MAX,
        against: 'a second, until the first page can be used in a browser that never saw it',
        better: 'lower',
        goal: 1,
        details: { bytes: measured[0]?.bytes, milliseconds: measured.map((v) => v.interactiveMs) },
        runs: [],
        versions: { chromium: browser.version() },
      },
    ];
  } finally {
    await browser.close();
  }
}

async function visit(browser: Browser, url: string): Promise<Visit> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.addInitScript(watchPage);
    await page.goto(url);
    await page.locator('input').first().waitFor();
    // A long task is reported after it ended.
    await page.waitForLoadState('networkidle');
    return await page.evaluate(() => {
      const { fieldAt, busyUntil } = globalThis as unknown as Watched;
      const answers = performance
        .getEntries()
        .filter(({ entryType }) => ['navigation', 'resource'].includes(entryType));
      const bytes = answers.reduce(
        (sum, entry) => sum + (entry as unknown as { transferSize: number }).transferSize,
        0,
      );
      return { interactiveMs: Math.round(Math.max(fieldAt, busyUntil)), bytes };
    });
  } finally {
    await context.close();
  }
}

interface Watched {
  fieldAt: number;
  busyUntil: number;
}

/** Runs in the page before its own scripts: records the first field and the end of the last long task. */
function watchPage(): void {
  const watched = globalThis as unknown as Watched & {
    document: { querySelector(selector: string): unknown };
    MutationObserver: new (
      seen: () => void,
    ) => { observe(target: unknown, options: object): void; disconnect(): void };
  };
  watched.fieldAt = 0;
  watched.busyUntil = 0;
  const observer = new watched.MutationObserver(() => {
    if (watched.document.querySelector('input') === null) return;
    watched.fieldAt = performance.now();
    observer.disconnect();
  });
  observer.observe(watched.document, { childList: true, subtree: true });
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) {
      watched.busyUntil = startTime + duration;
    }
  }).observe({ type: 'longtask' } as never);
}
