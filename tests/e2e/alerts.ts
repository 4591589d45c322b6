/** A Prometheus that scrapes processes of the service and evaluates `infra/grafana/alerts.yaml`, on a clock of the test. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'vitest';
import { parse } from 'yaml';
import { must } from '../../src/core/lib/assert.ts';
import { packageRoot } from '../../src/core/lib/package-root.ts';
import { Prometheus } from '../support/prometheus.ts';
import { durationOf } from '../support/promql.ts';
import { waitFor } from './wait-for.ts';

/** A condition becomes visible within this time, and is gone as soon once it is lifted. */
export const SEEN_MS_MAX = 60_000;
/** The longest time that a rule looks back or waits. */
export const LONGEST_WINDOW_SECONDS = 3_600;
/** As in `infra/grafana/prometheus.yaml`. */
const SCRAPE_SECONDS = 15;
const SCRAPE_MS_MAX = 10_000;
const STEPS = 5;

interface Rule {
  alert: string;
  expr: string;
  for?: string;
}

const file = path.join(packageRoot, 'infra', 'grafana', 'alerts.yaml');
const { groups } = parse(await readFile(file, 'utf8')) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const secondsOf = (rule: Rule) => Number(durationOf(rule.for ?? '0s'));

/** Watches the processes whose metrics are at these ports; `traffic` is made before each scrape. */
export function watchAlerts(
  ports: Readonly<Record<string, number>>,
  traffic: () => Promise<unknown>,
) {
  const prometheus = new Prometheus();
  let now = 0;
  /** Since when an alert with certain labels has met its expression without a break. */
  let active = new Map<string, { rule: Rule; since: number }>();

  async function scrape(): Promise<void> {
    const targets = Object.entries(ports).map(async ([instance, port]) => {
      const url = `http://127.0.0.1:${port}/metrics`;
      const response = fetch(url, { signal: AbortSignal.timeout(SCRAPE_MS_MAX) });
      const text = await response.then((found) => found.text()).catch(() => null);
      return [instance, text] as const;
    });
    prometheus.store(now, 'enrichment-pipeline', new Map(await Promise.all(targets)));
    const met = rules.flatMap((rule) =>
      prometheus
        .evaluate(rule.expr)
        .map(({ labels }) => ({ rule, key: rule.alert + JSON.stringify(labels) })),
    );
    active = new Map(
      met.map(({ rule, key }) => [key, { rule, since: active.get(key)?.since ?? now }]),
    );
  }

  /** Lets time pass, with traffic and scrapes. */
  async function pass(seconds: number, meanwhile = traffic): Promise<void> {
    const step = Math.max(SCRAPE_SECONDS, seconds / STEPS);
    for (const end = now + seconds; now < end; ) {
      await meanwhile();
      now += step;
      await scrape();
    }
  }

  /** Names of the alerts that fire now, in order. */
  function firing(): string[] {
    const due = [...active.values()].filter(({ rule, since }) => now - since >= secondsOf(rule));
    return [...new Set(due.map(({ rule }) => rule.alert))].sort();
  }

  /** No rule is met any more, after as much time as any of them looks back. */
  async function expectQuiet(): Promise<void> {
    await waitFor('all alerts are quiet', SEEN_MS_MAX, async () => {
      await pass(LONGEST_WINDOW_SECONDS);
      await pass(SCRAPE_SECONDS);
      return active.size === 0;
    }).catch(() => expect([...active.keys()]).toEqual([]));
  }

  /** Exactly these fire once the time of the first has passed, and none before. */
  async function expectFires(
    [alert = '', ...others]: string[],
    meanwhile = traffic,
  ): Promise<void> {
    expect(firing()).toEqual([]);
    await waitFor(`${alert} sees its condition`, SEEN_MS_MAX, async () => {
      await pass(SCRAPE_SECONDS, meanwhile);
      return [...active.values()].some(({ rule }) => rule.alert === alert);
    });
    const rule = must(
      rules.find((one) => one.alert === alert),
      alert,
    );
    await pass(secondsOf(rule), meanwhile);
    expect(firing()).toEqual([alert, ...others].sort());
  }

  return { pass, firing, expectQuiet, expectFires };
}
