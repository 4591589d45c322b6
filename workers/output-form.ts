/** The form of a file that a command writes: what `--format` and `--gzip` ask for, else what its name says. */
import path from 'node:path';
import { AppError } from '../src/core/lib/errors.ts';

const extensions = { csv: 'csv', 'csv-safe': 'csv', jsonl: 'jsonl', xlsx: 'xlsx' } as const;
type Format = keyof typeof extensions;

/** The query of a download. */
export interface OutputForm {
  format: Format;
  gzip: 'true' | 'false';
}

/** Options of every command that writes a file. */
export interface FormOptions {
  format?: string;
  gzip?: boolean;
}

/**
 * The form in which `file` is written; `otherwise` when neither an option nor its name says the format. Throws `AppError`
 * `usage` for an unknown format, and for one that the name of the file contradicts.
 */
export function formOf(file: string, options: FormOptions, otherwise = 'csv'): OutputForm {
  const named = nameOf(file);
  const format = options.format ?? named.format ?? otherwise;
  if (!isFormat(format)) {
    throw usage(`--format: ${format} is unknown. Use ${Object.keys(extensions).join(', ')}.`);
  }
  if (named.format !== null && extensions[format] !== named.format) {
    throw usage(`--format ${format} does not fit ${path.basename(file)}. Change one of them.`);
  }
  return { format, gzip: options.gzip || named.gzip ? 'true' : 'false' };
}

/** The name of a result beside its list: `leads.xlsx` gives `leads.enriched.xlsx`. */
export function enrichedName(file: string, options: FormOptions): string {
  const named = nameOf(file);
  const { format } = formOf('', options, named.format ?? 'csv');
  const stem = path
    .basename(file)
    .replace(/\.gz$/i, '')
    .replace(/\.[a-z]{1,6}$/i, '');
  return path.join(
    path.dirname(file),
    `${stem}.enriched${endingOf(format, options.gzip || named.gzip)}`,
  );
}

/** `.csv`, `.xlsx.gz`, ... */
export function endingOf(format: Format, gzip: boolean): string {
  return `.${extensions[format]}${gzip ? '.gz' : ''}`;
}

function nameOf(file: string): { format: 'csv' | 'jsonl' | 'xlsx' | null; gzip: boolean } {
  const ending = /(?:\.([a-z]{1,6}))?(\.gz)?$/i.exec(path.basename(file));
  const extension = ending?.[1]?.toLowerCase() ?? '';
  const known = { csv: 'csv', jsonl: 'jsonl', ndjson: 'jsonl', xlsx: 'xlsx' } as const;
  const format = extension in known ? known[extension as keyof typeof known] : null;
  return { format, gzip: ending?.[2] !== undefined };
}

function isFormat(format: string): format is Format {
  return format in extensions;
}

function usage(message: string): AppError {
  return new AppError({ code: 'usage', status: 400, message });
}
