/** Workbooks for the tests of this folder, built part by part. */

import { Readable } from 'node:stream';
import type { XlsxLimits } from './limits.ts';
import { openXlsx } from './read-xlsx.ts';
import type { XlsxSource } from './zip-parts.ts';
import { type ZipMember, zipStream } from './zip-stream.ts';

export const transitional = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
export const strict = 'http://purl.oclc.org/ooxml/spreadsheetml/main';
const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

export function sourceOf(bytes: Buffer): XlsxSource {
  return {
    bytes: bytes.length,
    get: async ({ from, to }) => bytes.subarray(from, to),
    getStream: ({ from, to }) => Readable.from([bytes.subarray(from, to)]),
  };
}

export async function collect(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

export function zipOf(parts: Record<string, string | Buffer>): Promise<Buffer> {
  const members: ZipMember[] = Object.entries(parts).map(([name, content]) => ({
    name,
    bytes: [Buffer.from(content)],
  }));
  return collect(zipStream(members));
}

export interface TestWorkbook {
  /** Content of `sheetData`. */
  rows?: string;
  /** The items of the shared strings. */
  strings?: string;
  /** Format codes of styles 1, 2, ... (or built-in ids); style 0 is General. */
  formats?: (string | number)[];
  workbookPr?: string;
  sheets?: string;
  namespace?: string;
  /** Parts that replace or complement the usual ones. */
  parts?: Record<string, string | Buffer>;
}

export function relationsOf(...targets: [id: string, type: string, target: string][]): string {
  const each = targets.map(
    ([id, type, target]) =>
      `<Relationship Id="${id}" Type="${office}/${type}" Target="${target}"/>`,
  );
  return `<Relationships xmlns="http://relations">${each.join('')}</Relationships>`;
}

export function workbookParts(book: TestWorkbook): Record<string, string | Buffer> {
  const namespace = book.namespace ?? transitional;
  const sheets = book.sheets ?? '<sheet name="One" sheetId="1" r:id="rId1"/>';
  return {
    '_rels/.rels': relationsOf(['rId1', 'officeDocument', 'xl/workbook.xml']),
    'xl/workbook.xml':
      `<workbook xmlns="${namespace}" xmlns:r="${office}">${book.workbookPr ?? ''}` +
      `<sheets>${sheets}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relationsOf(
      ['rId1', 'worksheet', 'worksheets/sheet1.xml'],
      ['rId2', 'worksheet', '/xl/worksheets/sheet2.xml'],
      ['rId3', 'sharedStrings', 'sharedStrings.xml'],
      ['rId4', 'styles', 'styles.xml'],
      ['rId5', 'chartsheet', 'chartsheets/sheet1.xml'],
    ),
    'xl/styles.xml': stylesOf(namespace, book.formats ?? []),
    'xl/sharedStrings.xml': `<sst xmlns="${namespace}">${book.strings ?? ''}</sst>`,
    'xl/worksheets/sheet1.xml': sheetOf(book.rows ?? '', namespace),
    ...book.parts,
  };
}

export function sheetOf(rows: string, namespace = transitional): string {
  return `<worksheet xmlns="${namespace}"><sheetData>${rows}</sheetData></worksheet>`;
}

function stylesOf(namespace: string, formats: (string | number)[]): string {
  const own = formats.map((format, index) =>
    typeof format === 'number'
      ? ''
      : `<numFmt numFmtId="${164 + index}" formatCode="${format.replaceAll('"', '&quot;')}"/>`,
  );
  const styles = formats.map(
    (format, index) => `<xf numFmtId="${typeof format === 'number' ? format : 164 + index}"/>`,
  );
  return (
    `<styleSheet xmlns="${namespace}"><numFmts>${own.join('')}</numFmts>` +
    `<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>` +
    `<cellXfs><xf numFmtId="0"/>${styles.join('')}</cellXfs></styleSheet>`
  );
}

/** The CSV of the first visible sheet. */
export async function* xlsxToCsv(...workbook: Parameters<typeof openXlsx>): AsyncGenerator<Buffer> {
  const { sheetToCsv, close } = await openXlsx(...workbook);
  try {
    yield* sheetToCsv(0);
  } finally {
    await close();
  }
}

/** The CSV text of a workbook made of these parts. */
export async function csvOf(book: TestWorkbook, limits?: Partial<XlsxLimits>): Promise<string> {
  return csvOfBytes(await zipOf(workbookParts(book)), limits);
}

export async function csvOfBytes(bytes: Buffer, limits?: Partial<XlsxLimits>): Promise<string> {
  return (await collect(xlsxToCsv(sourceOf(bytes), limits))).toString();
}
