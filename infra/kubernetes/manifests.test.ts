/** Checks that the manifests are consistent: no cluster is needed, because everything they name can be checked. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { configOptions, readConfig } from '../../src/core/config.ts';
import { packageRoot } from '../../src/core/lib/package-root.ts';
import { addAuditCommand } from '../../workers/commands/audit.ts';
import { addServerCommands } from '../../workers/commands/server.ts';

interface Probe {
  httpGet: { path: string; port: string };
}

interface Container {
  name: string;
  image: string;
  args: string[];
  ports?: { name: string; containerPort: number }[];
  readinessProbe?: Probe;
  livenessProbe?: Probe;
  resources: { requests: Record<string, string>; limits: { memory: string } };
  securityContext: Record<string, unknown>;
}

interface Pod {
  metadata?: { labels: Record<string, string>; annotations: Record<string, string> };
  spec: { containers: Container[]; terminationGracePeriodSeconds?: number };
}

interface Manifest {
  kind: string;
  metadata: { name: string };
  spec: {
    replicas?: number;
    selector?: { matchLabels?: Record<string, string> } & Record<string, unknown>;
    template?: Pod;
    jobTemplate?: { spec: { template: Pod } };
    ports?: { targetPort: string }[];
  };
}

const read = (name: string) => readFileSync(path.join(import.meta.dirname, name), 'utf8');
const kustomization = parse(read('kustomization.yaml')) as {
  resources: string[];
  images: { name: string; newTag: string }[];
  configMapGenerator: { literals: string[] }[];
};
const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.yaml'));
const manifests = files
  .filter((name) => name !== 'kustomization.yaml')
  .flatMap((name) => parseAllDocuments(read(name)).map((one) => one.toJSON() as Manifest));
const { version } = JSON.parse(readFileSync(path.join(packageRoot, 'package.json'), 'utf8')) as {
  version: string;
};

const settings = Object.fromEntries(
  kustomization.configMapGenerator.flatMap(({ literals }) =>
    literals.map((literal) => literal.split(/=(.*)/s).slice(0, 2) as [string, string]),
  ),
);
const podOf = ({ spec }: Manifest) => spec.template ?? spec.jobTemplate?.spec.template;
const pods = manifests.flatMap((manifest) => {
  const pod = podOf(manifest);
  return pod === undefined ? [] : [{ name: manifest.metadata.name, manifest, pod }];
});
const named = (name: string) => manifests.filter(({ metadata }) => metadata.name === name);

test('every file is applied, except the one that is applied before', () => {
  expect([...kustomization.resources, 'migrate.yaml', 'kustomization.yaml'].sort()).toEqual(
    files.sort(),
  );
});

test('the settings are existing options with valid values', () => {
  const known = Object.values(configOptions).map(({ env }) => env);
  const secrets = [...read('kustomization.yaml').matchAll(/--from-literal=(\w+)=/g)].map(
    ([, name = '']) => name,
  );
  expect([...Object.keys(settings), ...secrets].filter((name) => !known.includes(name))).toEqual(
    [],
  );
  const config = readConfig({
    ...settings,
    ...Object.fromEntries(secrets.map((name) => [name, 'secret'])),
    DATABASE_URL: 'postgres://enrich:secret@postgres/enrich',
  });
  expect(config.storage).toMatchObject({ provider: 's3', bucket: 'enrich' });
  const [api] = named('enrich-api');
  expect(config.apiProcesses).toBe(api?.spec.replicas);
});

describe.each(pods)('$name', ({ manifest, pod }) => {
  const [container] = pod.spec.containers as [Container];

  test('runs a command of this version', () => {
    const program = new Command();
    addServerCommands(program);
    addAuditCommand(program);
    expect(program.commands.map((one) => one.name())).toContain(container.args[0]);
    const [image, tag] = container.image.split(':');
    const [renamed] = kustomization.images.filter(({ name }) => name === image);
    expect(tag ?? renamed?.newTag).toBe(version);
  });

  test('has minimal privileges, and resource limits', () => {
    expect(container.securityContext).toEqual({
      runAsNonRoot: true,
      runAsUser: 1000,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(container.resources.limits.memory).toMatch(/^\d+Mi$/);
  });

  test.runIf(manifest.kind === 'Deployment')('is found, probed and terminated correctly', () => {
    expect(manifest.spec.selector?.matchLabels).toEqual(pod.metadata?.labels);
    expect(pod.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(35);
    const ports = Object.fromEntries(
      (container.ports ?? []).map(({ name, containerPort }) => [name, containerPort]),
    );
    expect(ports.metrics).toBe(Number(settings.METRICS_PORT));
    expect(pod.metadata?.annotations['prometheus.io/port']).toBe(settings.METRICS_PORT);
    if (ports.http !== undefined) expect(ports.http).toBe(readConfig({}).port);
    for (const probe of [container.readinessProbe, container.livenessProbe]) {
      if (probe === undefined) continue;
      expect(Object.keys(ports)).toContain(probe.httpGet.port);
      expect(['/healthz', '/readyz']).toContain(probe.httpGet.path);
    }
    expect(container.livenessProbe?.httpGet.path).toBe('/healthz');
  });
});

test('traffic goes to APIs that are ready', () => {
  const [deployment, service, budget] = named('enrich-api');
  expect(service?.spec.selector).toEqual(deployment?.spec.selector?.matchLabels);
  expect(budget?.spec.selector).toEqual(deployment?.spec.selector);
  const [container] = deployment?.spec.template?.spec.containers ?? [];
  expect(service?.spec.ports?.map(({ targetPort }) => targetPort)).toEqual(['http']);
  expect(container?.readinessProbe?.httpGet).toEqual({ path: '/readyz', port: 'http' });
});
