/**
 * The files that are written from the code's own tables and from what was measured. `npm run docs` writes
 * them and a test holds them equal; a new one is a line here.
 */
import { renderOpenApi } from '../src/api/openapi/openapi.ts';
import { routes } from '../src/api/routes.ts';
import { configOptions } from '../src/core/config.ts';
import { buildProgram } from '../workers/program.ts';
import { renderCommandPage } from './command-page.ts';
import { renderConfigPage, renderEnvExample } from './config-documents.ts';
import {
  performancePlots,
  readBenchFile,
  renderPerformancePage,
  renderPerformancePlot,
} from './performance-page.ts';
import { renderScalingPage } from './scaling-page.ts';

interface GeneratedDocument {
  /** From the package root. */
  path: string;
  render(): string;
}

export const generatedDocuments: readonly GeneratedDocument[] = [
  { path: '.env.example', render: () => renderEnvExample(Object.values(configOptions)) },
  { path: 'docs/config.md', render: () => renderConfigPage(Object.values(configOptions)) },
  { path: 'docs/cli.md', render: () => renderCommandPage(buildProgram()) },
  {
    path: 'docs/openapi.json',
    render: () => `${JSON.stringify(renderOpenApi(routes), null, 2)}\n`,
  },
  { path: 'docs/performance.md', render: () => renderPerformancePage(readBenchFile()) },
  { path: 'docs/scaling.md', render: () => renderScalingPage(readBenchFile()) },
  ...performancePlots.map((plot) => ({
    path: plot.path,
    render: () => renderPerformancePlot(readBenchFile(), plot),
  })),
];
