/** A batch in lines for a person. */
import type { Batch } from '../../src/client/api-types.ts';

/** Returns the lines; `output` is the file with its result, or null. */
export function describeBatch(batch: Batch, output: string | null): string[] {
  const { total, processed, ...outcomes } = batch.rows;
  const lines = [
    `Batch      ${batch.id} (${batch.state}${batch.reason ? `, ${batch.reason}` : ''})`,
    `Rows       ${processed} of ${total ?? '?'}`,
  ];
  for (const [outcome, rows] of Object.entries(outcomes)) {
    if (rows) lines.push(`  ${outcome.padEnd(14)} ${rows}`);
  }
  const { charged, max } = batch.credits;
  lines.push(`Credits    ${charged} charged${max === null ? '' : ` of at most ${max}`}`);
  if (batch.rows_per_second) lines.push(`Speed      ${batch.rows_per_second} rows per second`);
  if (output !== null) lines.push(`Result     ${output}`);
  return [...lines, ...describeDoubts(batch.dialect)];
}

/** A line for each guess about the file, and how to change it. */
function describeDoubts({ doubts, ...dialect }: Batch['dialect']): string[] {
  const other = dialect.sheets.find((name) => name !== dialect.sheet);
  const told: Record<(typeof doubts)[number], string> = {
    encoding: `read as ${dialect.encoding}; if letters are wrong, name the encoding, such as --encoding windows-1251`,
    delimiter: `cells separated by ${JSON.stringify(dialect.delimiter)}; if that is wrong, use --delimiter`,
    header: `columns named by row ${dialect.header_row}; if that is wrong, use --header-row, or --no-header`,
    sheet: `sheet "${dialect.sheet}" was read; for another one use --sheet, such as --sheet "${other}"`,
    names:
      'given and family names seem to be swapped in most of the first rows; if so, map both, such as --map person_name=2 person_name=1',
  };
  return doubts.map((doubt) => `Check      ${told[doubt]}`);
}
