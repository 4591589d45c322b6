/**
 * The files that are generated from the code's own tables and from the measurements, whole or in sections. `npm run
 * docs` writes them and a test compares them; a new one is a line here.
 */
import { renderOpenApi } from '../src/api/openapi/openapi.ts';
import { documentedRoutes } from '../src/api/routes.ts';
import { configOptions } from '../src/core/config.ts';
import { buildProgram } from '../workers/program.ts';
import { renderApiTypes } from './api-types.ts';
import { commandSections } from './command-page.ts';
import { renderConfigTable, renderEnvExample } from './config-documents.ts';
import { renderPage } from './generated-sections.ts';
import { renderKinds, renderTestIdentifiers } from './kind-tables.ts';
import {
  performancePlots,
  performanceSections,
  readBenchFile,
  renderPerformancePlot,
} from './performance-page.ts';
import { renderOperations, renderPricedOperations, renderPrices } from './priced-operations.ts';
import { scalingSections } from './scaling-page.ts';

const program = await buildProgram();

interface GeneratedDocument {
  /** From the package root. */
  path: string;
  render(): string;
}

export const generatedDocuments: readonly GeneratedDocument[] = [
  { path: '.env.example', render: () => renderEnvExample(Object.values(configOptions)) },
  page('docs/config.md', () => ({ options: renderConfigTable(Object.values(configOptions)) })),
  page('docs/cli.md', () => commandSections(program)),
  {
    path: 'docs/openapi.json',
    render: () => `${JSON.stringify(renderOpenApi(documentedRoutes), null, 2)}\n`,
  },
  {
    path: 'src/client/api-types.ts',
    render: () => renderApiTypes(renderOpenApi(documentedRoutes)),
  },
  { path: 'src/console/priced-operations.ts', render: renderPricedOperations },
  page('README.md', () => ({ prices: renderPrices() })),
  page('docs/api.md', () => ({ operations: renderOperations() })),
  page('docs/concepts.md', () => ({ kinds: renderKinds() })),
  page('docs/test-mode.md', () => ({ identifiers: renderTestIdentifiers() })),
  page('docs/performance.md', () => performanceSections(readBenchFile())),
  page('docs/scaling.md', () => scalingSections(readBenchFile())),
  ...performancePlots.map((plot) => ({
    path: plot.path,
    render: () => renderPerformancePlot(readBenchFile(), plot),
  })),
];

/** A page whose prose is in the page itself. */
function page(path: string, sections: () => Record<string, string>): GeneratedDocument {
  return { path, render: () => renderPage(path, sections()) };
}
