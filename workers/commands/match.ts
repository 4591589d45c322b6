/** `match report`: how good likely matches are, on a list whose truth is known. */
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { Sql } from '../../src/core/db/client.ts';
import { MIN_PROBABILITY_DEFAULT } from '../../src/core/enrich/match-mode.ts';
import { findLikely } from '../../src/core/likely/find-likely.ts';
import { readGraphNames } from '../../src/core/likely/name-frequencies.ts';
import { type Measured, measureLikely } from '../../src/core/match/measure.ts';
import { MODEL_VERSION } from '../../src/core/match/weights.ts';
import { readLabelledList } from '../../src/mapping/read-labelled-list.ts';
import { probability } from '../arguments.ts';
import { readGlobals } from '../global-options.ts';
import { printResult } from '../output.ts';
import { withDatabase } from '../with-database.ts';

interface Report extends Measured {
  /** Versions of the weights and of the graph's frequencies. */
  model: string;
  graph: string;
  min_probability: number;
  rows_per_second: number;
  /** Matches that are wrong, with the row's number. */
  mistakes: { row: number; kind: string; id: number; probability: number; evidence: string }[];
}

export function addMatchCommands(program: Command): void {
  const match = program.command('match').description('measure likely matches');
  match
    .command('report')
    .description('match a list whose truth is known; report precision, recall and calibration')
    .argument('<list>', 'CSV with a header')
    .argument(
      '<truth>',
      'CSV with the columns row and expected_person_id or expected_company_id; also kind and candidates',
    )
    .option(
      '--min-probability <number>',
      'probability that a match needs',
      probability,
      MIN_PROBABILITY_DEFAULT,
    )
    .action(
      async (
        list: string,
        truth: string,
        options: { minProbability: number },
        command: Command,
      ) => {
        const { config, json } = readGlobals(command);
        const texts = await Promise.all([list, truth].map((file) => readFile(file, 'utf8')));
        const report = await withDatabase(config, (sql) =>
          measure(sql, texts, options.minProbability),
        );
        printResult(json, report, describe(report));
      },
    );
}

async function measure(
  sql: Sql,
  [listText = '', truthText = '']: readonly string[],
  minProbability: number,
): Promise<Report> {
  const { subject, rows } = readLabelledList(listText, truthText);
  const names = await readGraphNames(sql);
  const startedAt = performance.now();
  const outcomes = await findLikely(
    sql,
    subject,
    rows.map(({ cells }) => cells),
    minProbability,
  );
  const seconds = (performance.now() - startedAt) / 1000;
  const measured = rows.map(({ expected, kind, candidates }, index) => {
    const { status = 'no_match', candidates: found = [] } = outcomes[index] ?? {};
    const [best] = found;
    const fits = new Set(expected === 0 && kind === 'ambiguous' ? candidates : [expected]);
    return { status, id: best?.id ?? 0, probability: best?.probability ?? 0, expected, kind, fits };
  });
  const mistakes = measured.flatMap(({ status, id, probability, expected, kind }, index) => {
    if (status !== 'matched' || id === expected) return [];
    const evidence = outcomes[index]?.candidates[0]?.evidence ?? '';
    return [{ row: index + 1, kind, id, probability, evidence }];
  });
  return {
    model: MODEL_VERSION,
    graph: names.version,
    min_probability: minProbability,
    ...measureLikely(measured),
    rows_per_second: Math.round(rows.length / seconds),
    mistakes,
  };
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

function describe(report: Report): string[] {
  const { wrong, ambiguous } = report;
  return [
    `Model        ${report.model}, graph ${report.graph}, from probability ${report.min_probability}`,
    `Rows         ${report.rows}, ${report.rows_per_second} per second`,
    `Precision    ${percent(report.precision)} (${report.right} of ${report.matched} matches are right)`,
    `Recall       ${percent(report.recall)}`,
    `F1           ${percent(report.f1)}`,
    `Wrong        ${wrong.other_record} another record, ${wrong.no_match} of rows without one, ${wrong.ambiguous} of ambiguous rows`,
    `Ambiguous    ${ambiguous.told} of ${ambiguous.rows} told`,
    `Calibration  ${report.calibration_error} expected error, ${report.calibration_error_matched} over matches`,
    '',
    'Probability      rows   mean  right',
    ...report.reliability.map(
      ({ from, to, rows, probability, right }) =>
        `${from.toFixed(1)} - ${to.toFixed(1)}  ${String(rows).padStart(9)}  ${probability.toFixed(3)}  ${right.toFixed(3)}`,
    ),
    '',
    'Kind                      rows  right  wrong  ambiguous',
    ...Object.entries(report.kinds).map(
      ([kind, counts]) =>
        `${(kind || '(none)').padEnd(24)} ${String(counts.rows).padStart(5)}  ${String(counts.right).padStart(5)}  ${String(counts.wrong).padStart(5)}  ${String(counts.ambiguous).padStart(9)}`,
    ),
    ...report.mistakes.map(
      ({ row, kind, id, probability, evidence }) =>
        `Row ${row}${kind === '' ? '' : ` (${kind})`}: ${id} with ${probability.toFixed(3)}: ${evidence}`,
    ),
  ];
}
