/** Reads each column of a list: the meaning of its name and the content of its first cells. */
import { countryCode } from '../core/identifiers/country.ts';
import type { NormaliseContext } from '../core/identifiers/kind.ts';
import {
  type ColumnContent,
  type ContentKind,
  contentPlurals,
  isFilled,
  readContent,
} from './column-content.ts';
import { columnKinds, columnSigns, ofEachKind } from './column-kinds.ts';
import { type HeaderReading, readColumnName } from './column-names.ts';
import { numberContext, registerContext, registerOf } from './row-countries.ts';

/** The head of a list: its header and first records. */
export interface ListHead {
  /** Names of the columns; null for a file without a header. */
  header: readonly string[] | null;
  /** Cells of the first records. */
  sample: readonly (readonly string[])[];
  /** ISO 3166 alpha-2 region of phone numbers in rows without a country. */
  defaultRegion?: string | null;
  /** ISO 3166 alpha-2 country of registry numbers in rows without a country. */
  country?: string | null;
}

export interface ColumnView {
  /** From 1. */
  column: number;
  header: string | null;
  reading: HeaderReading;
  content: ColumnContent;
}

type Subject = 'person' | 'company';

/** The number of columns of the header, or of the widest record if that has more. */
export function columnsOf({ header, sample }: ListHead): number {
  return sample.reduce((most, record) => Math.max(most, record.length), header?.length ?? 0);
}

/** Example values shown of a column. */
const SAMPLES_MAX = 3;
const SAMPLE_CHARACTERS_MAX = 80;

/** A column as a person sees it who maps it. */
export interface SampledColumn {
  /** From 1. */
  column: number;
  header: string | null;
  /** The first different values. */
  samples: string[];
  /** Share of its cells that hold a value, from 0 to 1, in the first records. */
  filled: number;
}

/** The columns of the header, and those of wider records, with the first values of each. */
export function sampleColumns({ header, sample }: ListHead): SampledColumn[] {
  return Array.from({ length: columnsOf({ header, sample }) }, (_, index) => {
    const cells = sample.map((record) => record[index] ?? '').filter(isFilled);
    const samples = [...new Set(cells.map((cell) => cell.trim()))]
      .slice(0, SAMPLES_MAX)
      .map((cell) => shortened(cell));
    const filled = sample.length === 0 ? 0 : cells.length / sample.length;
    return { column: index + 1, header: header?.[index] ?? null, samples, filled };
  });
}

function shortened(cell: string): string {
  const characters = [...cell];
  if (characters.length <= SAMPLE_CHARACTERS_MAX) return cell;
  return `${characters.slice(0, SAMPLE_CHARACTERS_MAX).join('')}…`;
}

/** The columns of the header, and those of wider records. */
export function readColumns(list: ListHead, subject: Subject): ColumnView[] {
  const { header, sample } = list;
  const width = columnsOf(list);
  const named = Array.from({ length: width }, (_, index) => {
    const name = header?.[index] ?? null;
    const cells = sample.map((record) => record[index] ?? '');
    return { column: index + 1, header: name, reading: readColumnName(name ?? ''), cells };
  });
  const countries = named.filter(isCountryColumn).map(({ cells }) => cells);
  const own = sample.map((_, row) =>
    numberContext(
      countries.map((cells) => cells[row] ?? ''),
      list,
    ),
  );
  return named.map(({ cells, ...view }) => {
    const register = view.reading.role === 'registry_number' ? registerOf(view.header) : null;
    const contexts = own.map((context): NormaliseContext => {
      return { subject, ...(register === null ? context : registerContext(register, context)) };
    });
    return { ...view, content: readContent(cells, contexts) };
  });
}

const COUNTRY_SHARE_MIN = 0.9;

/** True by its name, or when nearly all cells are countries. */
function isCountryColumn({ reading, cells }: { reading: HeaderReading; cells: string[] }): boolean {
  if (reading.role === 'country') return true;
  if (reading.role !== null) return false;
  const filled = cells.filter(isFilled);
  const countries = filled.filter((cell) => countryCode(cell) !== null);
  return filled.length > 0 && countries.length >= filled.length * COUNTRY_SHARE_MIN;
}

/** Contents that are unambiguous, whatever the header says. */
export const unmistakable: ReadonlySet<ContentKind> = new Set<ContentKind>(
  columnKinds
    .filter((kind) => columnSigns[kind].isUnmistakable)
    .flatMap((kind) => (kind === 'professional_network' ? [kind, 'other_profile'] : [kind])),
);

/** When a cell fits several kinds, the more specific one comes first. */
const strictKinds: readonly ContentKind[] = [
  ...unmistakable,
  ...columnKinds.filter((kind) => !unmistakable.has(kind)),
  'country',
  'company_name',
];

/** Only some company names end in a legal form. */
const shareMin: Readonly<Partial<Record<ContentKind, number | undefined>>> = {
  ...ofEachKind((signs) => signs.shareMin),
  country: COUNTRY_SHARE_MIN,
  company_name: 0.3,
};
const USUAL_SHARE_MIN = 0.6;

/** The kind of the column judging by its cells alone, or null. */
export function kindOfContent({ content }: ColumnView): ContentKind | null {
  const { filled, strict } = content;
  if (filled === 0) return null;
  const isKind = (kind: ContentKind) =>
    strict[kind] >= filled * (shareMin[kind] ?? USUAL_SHARE_MIN);
  return strictKinds.find(isKind) ?? null;
}

/** `94% of 87 cells are emails`. */
export function describeShare(content: ColumnContent, kind: ContentKind): string {
  const { filled, strict } = content;
  if (filled === 1) return `the only filled cell is one of ${contentPlurals[kind]}`;
  const share = Math.floor((strict[kind] / filled) * 100);
  return `${share}% of ${filled} cells are ${contentPlurals[kind]}`;
}

/** Describes the content of a column for a person who has to map it. */
export function describeContent(view: ColumnView): string {
  const { content } = view;
  if (content.filled === 0) return 'empty';
  const kind =
    kindOfContent(view) ??
    strictKinds.reduce((best, other) =>
      content.strict[other] > content.strict[best] ? other : best,
    );
  return content.strict[kind] === 0
    ? `no identifier in ${content.filled} ${content.filled === 1 ? 'cell' : 'cells'}`
    : describeShare(content, kind);
}
