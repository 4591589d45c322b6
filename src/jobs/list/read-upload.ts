/**
 * Reads a stored upload as a list: the sheet of a workbook, the dialect, and the columns of the identifiers. What the
 * caller does not state is detected.
 */
import { Readable } from 'node:stream';
import { uuidv7 } from 'uuidv7';
import { outputColumns } from '../../core/enrich/match-data.ts';
import type { MatchMode } from '../../core/enrich/match-mode.ts';
import { AppError, invalidParameter, unprocessable } from '../../core/lib/errors.ts';
import { openShare } from '../../core/limits/shares.ts';
import { type OperationName, operations } from '../../core/operations.ts';
import type { StreamSum } from '../../core/storage/object-store.ts';
import { HEAD_BYTES_MAX, readHead, verifyObject } from '../../core/storage/object-sum.ts';
import { type Dialect, type DialectOptions, detectDialect } from '../../formats/csv/dialect.ts';
import type { KnownNames } from '../../formats/csv/header.ts';
import { isXlsx, type OpenXlsx, openXlsx, storedXlsx } from '../../formats/xlsx/read-xlsx.ts';
import { readColumnName } from '../../mapping/column-names.ts';
import { type ColumnMapping, mapColumns, type RequestedMapping } from '../../mapping/columns.ts';
import type { StoredDialect, StoredWorkbook } from '../batch/batch.ts';
import { inReadingTurn, leavingRoom } from './reading-turns.ts';
import type { StoredUpload, UploadContext } from './store-upload.ts';

/** How the caller says that the file is to be read; omitted options are detected. */
export interface DialectRequest extends Omit<DialectOptions, 'isWhole' | 'isSheet' | 'knownNames'> {
  /** Name of a visible sheet of a workbook, or its number from 1. */
  sheet?: string | undefined;
}

/** The part of a request that finds the columns. */
export interface ColumnRequest {
  operation: OperationName;
  mapping: RequestedMapping | null;
  /** True for a list that may be mapped later. */
  allowUnmapped: boolean;
  match: MatchMode;
  /** ISO 3166 alpha-2 codes. */
  defaultRegion: string | null;
  country: string | null;
}

export interface ReadList {
  /** The text of the list: the upload itself, or the CSV of the sheet. */
  uploadKey: string;
  sum: StreamSum;
  dialect: StoredDialect;
  mapping: ColumnMapping;
  /** Cells of the first rows. */
  sample: readonly (readonly string[])[];
}

/** The columns of results: a list may be the result of an earlier one. */
const columnNames: ReadonlySet<string> = new Set(
  (Object.keys(operations) as OperationName[]).flatMap((operation) =>
    outputColumns(operation, null).map(({ header }) => header),
  ),
);

const knownNames: KnownNames = {
  columnNames,
  isColumnName(text) {
    const { role, isExact } = readColumnName(text);
    return columnNames.has(text) || (role !== null && isExact);
  },
};

type ReadingContext = Pick<UploadContext, 'store' | 'config' | 'accountId' | 'signal'>;

/**
 * Reads an upload as a list. A workbook becomes the CSV of one sheet when its turn comes. Throws `AppError`: 415 for a
 * file of another type, 422 for an unreadable one, 422 `unmapped`, 400 for a request that does not fit the file, and
 * as the share of conversions. The upload itself stays in storage then; nothing else does.
 */
export async function readUpload(
  context: ReadingContext,
  { key, sum, head }: Pick<StoredUpload, 'key' | 'head'> & { sum: StreamSum },
  columns: ColumnRequest,
  request: DialectRequest,
): Promise<ReadList> {
  if (isXlsx(head)) {
    const { bytes, crc32 } = sum;
    const list = await readWorkbook(context, { key, bytes, crc32 }, columns, request);
    if (list.dialect.workbook === null) await context.store.delete(key);
    return list;
  }
  if (request.sheet !== undefined) {
    throw wrongSheet('this file is not a workbook, or has only one sheet');
  }
  const start = { head, isWhole: head.length === sum.bytes };
  const { dialect, mapping } = await inReadingTurn(context, () =>
    readStart(start, columns, request),
  );
  const noSheet = { sheet: null, sheets: [], workbook: null };
  const stored = { ...storedDialect(dialect), ...noSheet };
  return { uploadKey: key, sum, mapping, dialect: stored, sample: dialect.sample };
}

/**
 * A conversion keeps one core busy and holds its texts in memory: a process does one at a time. The longest
 * conversion is shorter than the wait of the next account, and both together are shorter than the timeout of a
 * silent connection.
 */
const convertInTurn = openShare({
  name: 'workbooks',
  inFlightMax: 1,
  accountInFlightMax: 1,
  accountWaitingMax: 7,
  waitMsMax: 30_000,
});

/** Reads one sheet of a stored workbook, which stays. Throws as `readUpload`. */
export async function readWorkbook(
  { store, config, accountId, signal }: ReadingContext,
  file: StoredWorkbook,
  columns: ColumnRequest,
  request: DialectRequest,
): Promise<ReadList> {
  const key = `${file.key}-${uuidv7()}-sheet`;
  try {
    await verifyObject(store, file.key, file);
    const { sum, choice, names } = await convertInTurn(accountId, signal, async () => {
      const limits = { csvBytesMax: config.uploadBytesMax };
      const workbook = await openXlsx(storedXlsx(store, file), limits, signal);
      try {
        const choice = await chooseSheet(workbook, columns, request);
        const csv = Readable.from(workbook.sheetToCsv(choice.sheet), { signal });
        return { sum: await store.putStream(key, csv), choice, names: workbook.sheets };
      } finally {
        await workbook.close();
      }
    });
    const head = await readHead(store, key, sum);
    const sheets = names.slice(0, SHEETS_NAMED_MAX);
    const start = { head, isWhole: head.length === sum.bytes, sheets };
    const { dialect, mapping } = await inReadingTurn({ accountId, signal }, () =>
      readStart(start, columns, ofSheet(request)),
    );
    const stored = storedDialect(dialect);
    if (choice.isDoubtful) stored.doubts.push('sheet');
    const sheet = names[choice.sheet] ?? '';
    const workbook = names.length > 1 ? file : null;
    const { sample } = dialect;
    return {
      uploadKey: key,
      sum,
      mapping,
      dialect: { ...stored, sheet, sheets, workbook },
      sample,
    };
  } catch (error) {
    await store.delete(key);
    // A client that disconnects is not a failure of the service.
    signal.throwIfAborted();
    throw error;
  }
}

type SheetRequest = DialectRequest & Pick<DialectOptions, 'isSheet'>;

/** The CSV of a sheet is in a known form. */
function ofSheet({ headerRow }: DialectRequest): SheetRequest {
  return { headerRow, encoding: 'utf-8', delimiter: ',', isSheet: true };
}

const SHEETS_NAMED_MAX = 100;
/** Sheets among which a list is sought: the others have to be named. */
const SHEETS_SOUGHT_MAX = 20;

interface SheetChoice {
  /** Index among the visible sheets. */
  sheet: number;
  /** True when another sheet may have been meant. */
  isDoubtful: boolean;
}

/**
 * The requested sheet; otherwise the first with an identifier that a header names, the first with an identifier at
 * all, or the first that is not empty.
 */
async function chooseSheet(
  workbook: OpenXlsx,
  columns: ColumnRequest,
  request: DialectRequest,
): Promise<SheetChoice> {
  const { sheets } = workbook;
  if (request.sheet !== undefined) {
    return { sheet: indexOfSheet(sheets, request.sheet), isDoubtful: false };
  }
  if (sheets.length === 1) return { sheet: 0, isDoubtful: false };
  const ranks: SheetRank[] = [];
  for (let sheet = 0; sheet < Math.min(sheets.length, SHEETS_SOUGHT_MAX); sheet++) {
    ranks.push(await rankSheet(workbook, sheet, columns, request));
  }
  const best = Math.min(...ranks);
  const sheet = ranks.indexOf(best as SheetRank);
  const isList = (rank: SheetRank) => rank <= sheetRanks.guessed;
  const isDoubtful = sheet > 0 || ranks.filter(isList).length > 1;
  return { sheet, isDoubtful };
}

const sheetRanks = { named: 0, guessed: 1, filled: 2, empty: 3 } as const;
type SheetRank = (typeof sheetRanks)[keyof typeof sheetRanks];

/** The rank of a sheet by its first bytes. One that cannot be read is no list. */
async function rankSheet(
  workbook: OpenXlsx,
  sheet: number,
  columns: ColumnRequest,
  request: DialectRequest,
): Promise<SheetRank> {
  try {
    const start = await startOfSheet(workbook, sheet);
    if (start.head.length === 0) return sheetRanks.empty;
    // Not as a list that may be mapped later: another sheet may have the identifiers.
    const strictly = { ...columns, allowUnmapped: false };
    // A conversion has its turn already.
    const { mapping, dialect } = await leavingRoom(() =>
      readStart(start, strictly, ofSheet(request)),
    );
    const { identifiers } = operations[columns.operation];
    const isNamed = identifiers.some((kind) => mapping[kind]?.some(({ header }) => header));
    return dialect.records !== 0 && isNamed ? sheetRanks.named : sheetRanks.guessed;
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return sheetRanks.filled;
    throw error;
  }
}

async function startOfSheet(workbook: OpenXlsx, sheet: number): Promise<ListStart> {
  const blocks: Buffer[] = [];
  let bytes = 0;
  for await (const block of workbook.sheetToCsv(sheet)) {
    blocks.push(block);
    bytes += block.length;
    if (bytes >= HEAD_BYTES_MAX) return { head: Buffer.concat(blocks), isWhole: false };
  }
  return { head: Buffer.concat(blocks), isWhole: true };
}

/** The index of a sheet by its name, in any case, or its number. Throws `AppError` 400. */
function indexOfSheet(sheets: readonly string[], wanted: string): number {
  const folded = wanted.trim().toLowerCase();
  const exact = sheets.indexOf(wanted);
  const named = exact === -1 ? sheets.findIndex((name) => name.toLowerCase() === folded) : exact;
  if (named !== -1) return named;
  const number = /^\d{1,4}$/.test(folded) ? Number(folded) : 0;
  if (number >= 1 && number <= sheets.length) return number - 1;
  throw wrongSheet(
    `"${wanted}" is not a visible sheet of the workbook. It has ${listSheets(sheets)}`,
  );
}

function listSheets(sheets: readonly string[]): string {
  const shown = sheets.slice(0, SHEETS_SOUGHT_MAX).map((name, index) => `${index + 1} "${name}"`);
  const more = sheets.length - shown.length;
  return shown.join(', ') + (more > 0 ? ` and ${more} more` : '');
}

function wrongSheet(message: string): AppError {
  return invalidParameter('sheet', message);
}

/** The first bytes of a list. */
interface ListStart {
  head: Buffer;
  isWhole: boolean;
  /** Names of the visible sheets of a workbook. */
  sheets?: readonly string[];
}

/** Reads the first bytes of a list. Throws as `readUpload`. */
function readStart(
  { head, isWhole, sheets = [] }: ListStart,
  columns: ColumnRequest,
  { sheet: _sheet, ...request }: SheetRequest,
): { dialect: Dialect; mapping: ColumnMapping } {
  const dialect = detectDialect(head, { ...request, isWhole, knownNames });
  const { header, sample } = dialect;
  if (header !== null && dialect.records === 0) throw noRows(dialect);
  const { operation, mapping, match, allowUnmapped, defaultRegion, country } = columns;
  const list = { header, sample, defaultRegion, country };
  try {
    return { dialect, mapping: mapColumns(operation, list, mapping, { allowUnmapped, match }) };
  } catch (error) {
    throw isUnmapped(error) ? withReadings(error, dialect, sheets) : error;
  }
}

function noRows({ headerRow }: Dialect): AppError {
  const message = 'The file has a header and no rows. Upload a header and at least one row.';
  return unprocessable(
    'unreadable_csv',
    `${message} For a file without a header, set the header row (header_row) to 0.`,
    {
      extensions: { line: headerRow },
      errors: [
        {
          field: 'header_row',
          line: headerRow,
          message: `${message} If its only row is not a header, set 0.`,
        },
      ],
    },
  );
}

function isUnmapped(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'unmapped';
}

/** The error with the other ways to read the file: another header row, another sheet. */
function withReadings(error: AppError, dialect: Dialect, sheets: readonly string[]): AppError {
  const { headerRow, firstLines } = dialect;
  const read =
    headerRow === 0 ? 'No row was read as the header' : `Row ${headerRow} was read as the header`;
  const others =
    sheets.length > 1
      ? ` The workbook has the sheets ${listSheets(sheets)}: name one with sheet=.`
      : '';
  const message = `${error.message} ${read}: if the names of the columns are in another row, send its number as header_row (0: there is none).${others}`;
  return unprocessable(error.code, message, {
    errors: error.errors,
    extensions: { ...error.extensions, header_row: headerRow, first_lines: firstLines, sheets },
    cause: error,
  });
}

function storedDialect(dialect: Dialect): Omit<StoredDialect, 'sheet' | 'sheets' | 'workbook'> {
  return {
    encoding: dialect.encoding,
    encodingIsGuess: dialect.encodingIsGuess,
    bom: dialect.bom,
    delimiter: dialect.delimiter,
    newline: dialect.newline,
    headerRow: dialect.headerRow,
    titles: dialect.titles,
    header: dialect.header,
    headerText: dialect.headerText,
    doubts: [...dialect.doubts],
    firstByte: dialect.firstDataByte,
    firstLine: dialect.firstDataLine,
  };
}

/** The options by which a stored list is read again as it was read. */
export function requestOf(dialect: StoredDialect): DialectRequest {
  const { encoding, encodingIsGuess, delimiter, doubts, headerRow } = dialect;
  return {
    // Given as an option, a guess would pass for certain.
    encoding: encodingIsGuess ? undefined : encoding,
    delimiter: doubts.includes('delimiter') ? undefined : delimiter,
    headerRow,
  };
}
