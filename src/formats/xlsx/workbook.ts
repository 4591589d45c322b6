/**
 * Finds the needed parts of a workbook's package: the visible sheets, the shared strings, and the meaning of
 * the number formats (ECMA-376 part 1, 18.2 and 18.8; part 2 for the relations).
 */

import type { XlsxLimits } from './limits.ts';
import { builtInForm, formOfCode, type NumberForm } from './number-form.ts';
import { readXmlPart } from './read-xml-part.ts';
import { notXlsx, unreadableXlsx } from './xlsx-errors.ts';
import { readAttribute, type XmlHandler } from './xml-scanner.ts';
import type { ZipParts } from './zip-parts.ts';

export interface Workbook {
  /** The sheets of cells that are not hidden, in the order of the tabs: at least one. */
  sheets: { name: string; part: string }[];
  /** Null in a workbook without shared strings. */
  stringsPart: string | null;
  /** By the style number of a cell. */
  forms: NumberForm[];
  is1904: boolean;
}

interface Relation {
  id: string;
  /** The last word of its type, which is the same in both namespaces. */
  type: string;
  part: string;
}

interface SheetEntry {
  name: string;
  relationId: string;
  isVisible: boolean;
}

type OpenPart = (name: string) => AsyncIterable<Buffer>;

/** Excel allows 31. */
const SHEET_NAME_CHARACTERS_MAX = 255;

/** Namespaces of the transitional and the strict form. */
const mainNamespaces = [
  'http://schemas.openxmlformats.org/spreadsheetml/2006/main',
  'http://purl.oclc.org/ooxml/spreadsheetml/main',
];

/**
 * Throws `AppError` 415 for another kind of document (.ods, .xlsb, a plain archive) and 422 for a
 * workbook without a visible sheet.
 */
export async function readWorkbook(parts: ZipParts, limits: XlsxLimits): Promise<Workbook> {
  const open = (name: string) => parts.read(name, limits.partBytesMax);
  const relationsOf = (part: string) => readRelations(parts, open, part, limits.relationsMax);
  const workbookPart = findWorkbook(parts, await relationsOf(''));
  const relations = await relationsOf(workbookPart);
  const { sheets, is1904 } = await readSheetList(open(workbookPart), limits.sheetsMax);
  const styles = relations.find(({ type }) => type === 'styles');
  const strings = relations.find(({ type }) => type === 'sharedStrings');
  return {
    sheets: visibleSheets(sheets, relations),
    stringsPart: strings !== undefined && parts.has(strings.part) ? strings.part : null,
    forms:
      styles !== undefined && parts.has(styles.part)
        ? await readForms(open(styles.part), limits.stylesMax)
        : [],
    is1904,
  };
}

/** Throws `AppError` 422 for one more item than a list of the file may have. */
function assertBelow(max: number, name: string, count: number): void {
  if (count >= max) throw unreadableXlsx(`it has more than ${max} ${name}`);
}

function findWorkbook(parts: ZipParts, relations: readonly Relation[]): string {
  if (parts.has('mimetype') && parts.has('content.xml')) {
    throw notXlsx('ods', 'This file is an OpenDocument file (.ods), not an Excel workbook.');
  }
  const part = relations.find(({ type }) => type === 'officeDocument')?.part;
  if (part === undefined || !parts.has(part)) {
    const whatToDo = 'Unzip it, and upload the CSV file or the workbook in it.';
    throw notXlsx('zip', 'This file is a zip archive, not an Excel workbook.', whatToDo);
  }
  if (part.toLowerCase().endsWith('.bin')) {
    throw notXlsx('xlsb', 'This file is a binary Excel workbook (.xlsb).');
  }
  return part;
}

function visibleSheets(sheets: SheetEntry[], relations: Relation[]): Workbook['sheets'] {
  // Of relations with one id the first counts.
  const byId = new Map(relations.toReversed().map((relation) => [relation.id, relation]));
  const visible = sheets.flatMap(({ name, relationId, isVisible }) => {
    const relation = byId.get(relationId);
    return isVisible && relation?.type === 'worksheet' ? [{ name, part: relation.part }] : [];
  });
  if (visible.length === 0) throw unreadableXlsx('it has no visible sheet');
  return visible;
}

/** Reads the relations of one part to others inside the package; external links are ignored. */
async function readRelations(
  parts: ZipParts,
  open: OpenPart,
  part: string,
  max: number,
): Promise<Relation[]> {
  const slash = part.lastIndexOf('/') + 1;
  const folder = part.slice(0, slash);
  const name = `${folder}_rels/${part.slice(slash)}.rels`;
  const relations: Relation[] = [];
  if (!parts.has(name)) return relations;
  await readXmlPart(open(name), {
    ...silent,
    open: (element, attributes) => {
      const relation = element === 'Relationship' ? readRelation(folder, attributes) : null;
      if (relation === null) return;
      assertBelow(max, 'relations', relations.length);
      relations.push(relation);
    },
  });
  return relations;
}

function readRelation(folder: string, attributes: string): Relation | null {
  if (readAttribute(attributes, 'TargetMode') === 'External') return null;
  const type = readAttribute(attributes, 'Type') ?? '';
  const target = readAttribute(attributes, 'Target') ?? '';
  const part = resolveTarget(folder, target);
  if (part === null) return null;
  return {
    id: readAttribute(attributes, 'Id') ?? '',
    type: type.slice(type.lastIndexOf('/') + 1),
    part,
  };
}

/** Resolves a target: a relative URL, or one from the package's root; null for one outside it. */
function resolveTarget(folder: string, target: string): string | null {
  const root = 'package://package/';
  if (!URL.canParse(target, root + folder)) return null;
  const url = new URL(target, root + folder);
  if (!url.href.startsWith(root)) return null;
  try {
    return decodeURIComponent(url.pathname.slice(1));
  } catch {
    // An invalid % escape: it names no part.
    return null;
  }
}

async function readSheetList(
  bytes: AsyncIterable<Buffer>,
  max: number,
): Promise<{ sheets: SheetEntry[]; is1904: boolean }> {
  const sheets: SheetEntry[] = [];
  let is1904 = false;
  let isRoot = true;
  await readXmlPart(bytes, {
    ...silent,
    open: (name, attributes) => {
      if (isRoot) checkRoot(name, attributes);
      isRoot = false;
      if (name === 'workbookPr') is1904 = isTrue(readAttribute(attributes, 'date1904'));
      if (name !== 'sheet') return;
      assertBelow(max, 'sheets', sheets.length);
      sheets.push(readSheetEntry(attributes));
    },
  });
  return { sheets, is1904 };
}

function checkRoot(name: string, attributes: string): void {
  if (name !== 'workbook') {
    throw notXlsx('office', 'This file is another kind of Office document, not an Excel workbook.');
  }
  if (!mainNamespaces.some((namespace) => attributes.includes(namespace))) {
    throw unreadableXlsx('it is written in an unknown form');
  }
}

function readSheetEntry(attributes: string): SheetEntry {
  const state = readAttribute(attributes, 'state') ?? 'visible';
  // The prefix of this one attribute is the file's choice: `r:id` nearly everywhere.
  const relationName = /(?:^|\s)([^\s=:]+:id)\s*=/.exec(attributes)?.[1] ?? 'r:id';
  return {
    name: (readAttribute(attributes, 'name') ?? '').slice(0, SHEET_NAME_CHARACTERS_MAX),
    relationId: readAttribute(attributes, relationName) ?? '',
    isVisible: state === 'visible',
  };
}

function isTrue(value: string | null): boolean {
  return value === '1' || value === 'true' || value === 'on';
}

/** Reads the form of each cell style: by its own format code, otherwise the built-in one of its id. */
async function readForms(bytes: AsyncIterable<Buffer>, max: number): Promise<NumberForm[]> {
  const codes = new Map<number, NumberForm>();
  const forms: NumberForm[] = [];
  let section = '';
  await readXmlPart(bytes, {
    ...silent,
    open: (name, attributes) => {
      if (name === 'numFmts' || name === 'cellXfs') section = name;
      const id = Number(readAttribute(attributes, 'numFmtId') ?? 0);
      if (section === 'numFmts' && name === 'numFmt') {
        assertBelow(max, 'number formats', codes.size);
        codes.set(id, formOfCode(readAttribute(attributes, 'formatCode') ?? ''));
      } else if (section === 'cellXfs' && name === 'xf') {
        assertBelow(max, 'styles', forms.length);
        forms.push(codes.get(id) ?? builtInForm(id));
      }
    },
    close: (name) => {
      if (name === section) section = '';
    },
  });
  return forms;
}

const silent: XmlHandler = { open: () => {}, text: () => {}, close: () => {} };
