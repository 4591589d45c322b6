/** Metrics as a Prometheus reads them. */
import { metrics } from '../../src/core/metrics.ts';

interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export interface Scrape {
  text: string;
  samples: Sample[];
  /** Names of all metrics, including those without samples. */
  names: string[];
  /** The sum of a metric's samples with these labels; null when there is none. */
  sum(name: string, labels?: Record<string, string>): number | null;
}

/** Parses the text format (version 0.0.4). Throws on an invalid line. */
export function readScrape(text: string): Scrape {
  const samples: Sample[] = [];
  const names: string[] = [];
  for (const line of text.split('\n')) {
    const type = /^# TYPE (\S+) (counter|gauge|histogram|summary)$/.exec(line);
    if (type?.[1] !== undefined) names.push(type[1]);
    if (line === '' || line.startsWith('#')) continue;
    const form = /^([a-z_:][\w:]*)(?:\{(.*)\})? (\S+)$/i.exec(line);
    if (form === null) throw new Error(`no sample: ${line}`);
    const [, name = '', inside = '', value] = form;
    const labels = [...inside.matchAll(/(\w+)="((?:[^"\\]|\\.)*)",?/g)];
    samples.push({
      name,
      labels: Object.fromEntries(labels.map(([, label = '', text = '']) => [label, text])),
      value: Number(value),
    });
  }
  return {
    text,
    samples,
    names,
    sum(name, labels = {}) {
      const found = samples.filter(
        (sample) =>
          sample.name === name &&
          Object.entries(labels).every(([label, text]) => sample.labels[label] === text),
      );
      return found.length === 0 ? null : found.reduce((sum, { value }) => sum + value, 0);
    },
  };
}

/** The current metrics of this process. */
export async function scrapeHere(): Promise<Scrape> {
  return readScrape(await metrics.metrics());
}
