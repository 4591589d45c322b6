/** The columns of a batch's result. */
import { outputColumns } from '../../core/enrich/match-data.ts';
import type { Batch, ExportBatch, ListBatch } from '../batch/batch.ts';
import { furtherMatchColumns, resultHeader } from './render-part.ts';
import type { ResultLayout } from './result-formats.ts';

/** The layout of the result of a list or an export. */
export function layoutOf(batch: Batch): ResultLayout {
  return batch.kind === 'export' ? exportLayout(batch) : listLayout(batch);
}

/** Only the columns of the people. */
function exportLayout({ operation, fields }: ExportBatch): ResultLayout {
  const columns = outputColumns(operation, fields);
  return {
    delimiter: ',',
    newline: '\n',
    hasMark: false,
    names: columns.map(({ header }) => header),
    headerText: null,
    headerWidth: 0,
    width: 0,
    matches: false,
    further: [],
    columns,
  };
}

function listLayout(batch: ListBatch): ResultLayout {
  const { dialect } = batch;
  const width = batch.width ?? dialect.header?.length ?? 0;
  const columns = outputColumns(batch.operation, batch.fields);
  const further = furtherMatchColumns(batch);
  const header = dialect.header ?? numberedNames(width);
  return {
    delimiter: dialect.delimiter,
    newline: dialect.newline,
    hasMark: dialect.bom > 0,
    names: resultHeader(header, width, columns, further),
    headerText: dialect.headerText,
    headerWidth: header.length,
    width,
    matches: true,
    further,
    columns,
  };
}

/** Names for the columns of a list without a header: the result always has one. */
function numberedNames(width: number): string[] {
  return Array.from({ length: width }, (_, index) => `column_${index + 1}`);
}
