/**
 * The metrics of all processes of `up` in one answer, so that a Prometheus has one address to read, however
 * many workers there are and whatever ports they have after a restart.
 */
import { Gauge } from 'prom-client';
import type { Config } from '../src/core/config.ts';
import { metrics, serveMetrics } from '../src/core/metrics.ts';

/** A process can answer in milliseconds, and a database that is away holds it up for two seconds. */
const ANSWER_MS_MAX = 4_000;

export interface MetricsSource {
  kind: 'api' | 'worker';
  /** Which of its kind, from 1. */
  number: number;
  /** Null until it is ready. */
  url: string | null;
}

const answered = new Gauge({
  name: 'enrich_process_up',
  help: '1 for a process of this service whose metrics are in this response, 0 for one that does not respond.',
  labelNames: ['kind', 'number'],
  registers: [metrics],
});

/** Serves the metrics of the present processes, each sample with `process` and `number`, and those of `up`. */
export function serveStackMetrics(
  config: Pick<Config, 'metricsHost' | 'metricsPort'>,
  sources: readonly MetricsSource[],
): ReturnType<typeof serveMetrics> {
  return serveMetrics('up', config, async () => {
    const texts = await Promise.all(sources.map(readSource));
    return mergeExpositions([await metrics.metrics(), ...texts]);
  });
}

async function readSource({ kind, number, url }: MetricsSource): Promise<string> {
  try {
    if (url === null) throw new Error('it is not ready');
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
    if (!response.ok) throw new Error(`it answers ${response.status}`);
    const text = await response.text();
    answered.set({ kind, number }, 1);
    // Every sample of a process has this label.
    return text.replaceAll(`process="${kind}"`, `process="${kind}",number="${number}"`);
  } catch {
    answered.set({ kind, number }, 0);
    return '';
  }
}

/** Merges several responses: all samples of a metric come together, after one HELP and TYPE. */
export function mergeExpositions(texts: readonly string[]): string {
  const families = new Map<string, string[]>();
  for (const text of texts) {
    for (const family of text.split(/^(?=# HELP )/m)) {
      const lines = family.split('\n').filter((line) => line !== '');
      const [help = '', type = ''] = lines;
      if (help === '') continue;
      const head = `${help}\n${type}`;
      const samples = families.get(head) ?? [];
      samples.push(...lines.slice(2));
      families.set(head, samples);
    }
  }
  return [...families].map(([head, samples]) => `${[head, ...samples].join('\n')}\n`).join('');
}
