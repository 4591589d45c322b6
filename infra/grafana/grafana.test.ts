/**
 * Dashboard and alerts query only existing metrics: a panel without data looks like a service without problems.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { familyOf, groupsOf, parsePromql, selectorsOf } from '../../tests/support/promql.ts';
// Modules that API, worker and `up` load, and their metrics with them.
import '../../workers/api.ts';
import '../../workers/stack.ts';
import { watchPool } from '../../src/core/db/client.ts';
import { packageRoot } from '../../src/core/lib/package-root.ts';
import { metrics, serveMetrics } from '../../src/core/metrics.ts';
import { watchService } from '../../src/jobs/monitor/watch-service.ts';
import { runWorker } from '../../workers/worker.ts';

interface Rule {
  alert: string;
  expr: string;
  annotations: { runbook: string };
}

const read = (name: string) => readFile(path.join(import.meta.dirname, name), 'utf8');
const { groups } = parse(await read('alerts.yaml')) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const { panels } = JSON.parse(await read('dashboard.json')) as {
  panels: { title: string; targets?: { expr: string }[] }[];
};

const asked = [
  ...rules.map(({ alert, expr }) => ({ name: alert, expr })),
  ...panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ name: title, expr })),
  ),
];

/** Labels that the scraper adds: for our processes, `up`, and Prometheus itself. */
const everywhere = ['process', 'number', 'instance', 'job', 'le'];

/** The metrics of the three processes, with their labels. Nothing is connected. */
const known: Map<string, readonly string[]> = await (async () => {
  expect(runWorker).toBeTypeOf('function');
  const nowhere = null as never;
  watchService({ watchSql: nowhere, queues: nowhere });
  watchPool(nowhere);
  const { server } = await serveMetrics('test', { metricsHost: '127.0.0.1', metricsPort: 0 });
  server.close();
  return new Map(
    metrics.getMetricsAsArray().map((metric) => {
      const { name, labelNames } = metric as unknown as { name: string; labelNames: string[] };
      return [name, labelNames];
    }),
  );
})();

test('there are metrics, panels and alerts to check', () => {
  expect(panels.length).toBeGreaterThan(20);
  expect(asked.every(({ expr }) => selectorsOf(parsePromql(expr)).length > 0)).toBe(true);
});

test('there are twelve alerts at most, and each is made to fire in a test', async () => {
  expect(rules.length).toBeLessThanOrEqual(12);
  const tries = await readFile(path.join(packageRoot, 'tests/e2e/alerts.e2e.test.ts'), 'utf8');
  const tried = [...tries.matchAll(/^ {2}it\(\n? *'(\w+) fires/gm)].map(([, name]) => name);
  expect(tried.sort()).toEqual(rules.map(({ alert }) => alert).sort());
});

test('no metric has a label that Prometheus adds itself', () => {
  const taken = [...known].filter(([, labels]) =>
    labels.some((one) => /^(job|instance)$/.test(one)),
  );
  expect(taken).toEqual([]);
});

test.each(asked)('$name uses existing metrics and labels: $expr', ({ expr }) => {
  const names = [...known.keys()];
  const expression = parsePromql(expr);
  const labels = selectorsOf(expression).flatMap(({ metric, matchers }) => {
    const family = familyOf(metric, names);
    expect(family, metric).toBeDefined();
    const own = known.get(family ?? '') ?? [];
    const filtered = matchers.map(({ label }) => label);
    expect(filtered.filter((label) => ![...own, ...everywhere].includes(label))).toEqual([]);
    return own;
  });
  const groups = groupsOf(expression);
  expect(groups.filter((label) => ![...labels, ...everywhere].includes(label))).toEqual([]);
});

test('every metric is monitored, or described in the runbook', async () => {
  const names = [...known.keys()].filter((name) => name.startsWith('enrich_'));
  const families = asked.flatMap(({ expr }) =>
    selectorsOf(parsePromql(expr)).map(({ metric }) => familyOf(metric, names)),
  );
  const runbook = await readFile(path.join(packageRoot, 'docs', 'operations.md'), 'utf8');
  const unseen = names.filter((name) => !families.includes(name) && !runbook.includes(name));
  expect(unseen).toEqual([]);
});

test('every alert leads to a section of the runbook of its own, which names it', async () => {
  const runbook = await readFile(path.join(packageRoot, 'docs', 'operations.md'), 'utf8');
  const sections = new Map(
    runbook.split(/^#+ /m).map((section) => {
      const heading = section.slice(0, section.indexOf('\n')).toLowerCase();
      return [heading.replace(/[^\w -]/g, '').replaceAll(' ', '-'), section];
    }),
  );
  for (const { alert, annotations } of rules) {
    const [file, anchor = ''] = annotations.runbook.split('#');
    expect(file, alert).toBe('docs/operations.md');
    expect(sections.get(anchor), alert).toContain(`**\`${alert}\`**`);
  }
  expect(new Set(rules.map(({ annotations }) => annotations.runbook)).size).toBe(rules.length);
});
