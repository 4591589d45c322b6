/** Recognises files that are not text by their first bytes, before anything is decoded. */

import { unsupportedFile } from './csv-errors.ts';

interface Signature {
  kind: string;
  name: string;
  bytes: Buffer;
}

const WHAT_TO_DO = 'Save it as CSV (in Excel: "CSV UTF-8") and upload that.';

function signature(kind: string, name: string, latin1: string): Signature {
  return { kind, name, bytes: Buffer.from(latin1, 'latin1') };
}

/** First bytes as published in each format's specification. */
const refused: Signature[] = [
  signature('zip', 'an Excel workbook (.xlsx) or another zip archive', 'PK\x03\x04'),
  signature('zip', 'an empty zip archive', 'PK\x05\x06'),
  signature('xls', 'an old Excel workbook (.xls)', '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'),
  signature('png', 'a PNG image', '\x89PNG\r\n\x1a\n'),
  signature('jpeg', 'a JPEG image', '\xff\xd8\xff'),
  signature('gif', 'a GIF image', 'GIF87a'),
  signature('gif', 'a GIF image', 'GIF89a'),
  signature('pdf', 'a PDF document', '%PDF-'),
];

/**
 * Returns the kind of a file by its first bytes: `gzip` (to be unzipped by the caller) or `text`, which is
 * everything not known to be something else. Throws `AppError` 415 `unsupported_media_type` for workbooks,
 * archives, images and PDF.
 */
export function detectFileKind(sample: Buffer): 'gzip' | 'text' {
  for (const { kind, name, bytes } of refused) {
    if (sample.subarray(0, bytes.length).equals(bytes)) {
      throw unsupportedFile(kind, `This file is ${name}, not a CSV file. ${WHAT_TO_DO}`);
    }
  }
  return sample[0] === 0x1f && sample[1] === 0x8b ? 'gzip' : 'text';
}
