/** `generate`: fills the graph with synthetic records. */
import type { Command } from 'commander';
import { generateGraph } from '../../samples/generate/generate-graph.ts';
import { wholeNumber } from '../arguments.ts';
import { readGlobals } from '../global-options.ts';
import { printResult, say } from '../output.ts';
import { withDatabase } from '../with-database.ts';

export function addGraphCommands(program: Command): void {
  program
    .command('generate')
    .description(
      'fill an empty graph with synthetic people and companies; the same seed gives the same graph',
    )
    .requiredOption('--persons <number>', 'number of people', wholeNumber(0))
    .requiredOption('--companies <number>', 'number of companies', wholeNumber(0))
    .option('--seed <number>', 'seed', wholeNumber(0), 1)
    .action(
      async (options: { persons: number; companies: number; seed: number }, command: Command) => {
        const { config, json } = readGlobals(command);
        const started = performance.now();
        await withDatabase(config, (sql) =>
          generateGraph(sql, {
            ...options,
            onProgress: ({ step, done, total }) => say(`${step}: ${done} of ${total}`),
          }),
        );
        const seconds = (performance.now() - started) / 1000;
        printResult(json, { ...options, seconds }, [
          `${options.persons} people and ${options.companies} companies in ${seconds.toFixed(1)} s`,
        ]);
      },
    );
}
