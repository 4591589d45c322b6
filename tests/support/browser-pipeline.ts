/** A pipeline whose web console a browser opens. */
import type { Browser } from 'playwright-core';
import { startChromium } from '../../bench/browser.ts';
import { buildIfStale } from '../e2e/compiled-code.ts';
import { openPipeline, type Pipeline } from './pipeline.ts';

/** Opens a pipeline and a browser, which closes with it; the console is built first. */
export async function openBrowserPipeline(
  environment: Record<string, string> = {},
): Promise<{ pipeline: Pipeline; browser: Browser }> {
  await buildIfStale();
  const pipeline = await openPipeline(environment);
  const browser = await startChromium();
  const close = async () => {
    await browser.close();
    await pipeline.close();
  };
  return { pipeline: { ...pipeline, close }, browser };
}
