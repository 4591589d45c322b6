/** The identifiers of an imported record, by the fields that the identifier kinds name. */
import { type IdentifierKind, identifierKinds, statedText } from '../../identifiers/identifier.ts';
import type { KindDescription, NormaliseContext } from '../../identifiers/kind.ts';
import { companyFields } from '../fields.ts';
import { companyCodes, type KindCode, personCodes } from '../identifier-kinds.ts';
import { asObject, coerceText, coerceTexts, isAbsent } from './coerce.ts';
import type { JsonRecord } from './read-records.ts';
import { IdentifierSet } from './record-row.ts';

/** A field that holds identifiers, and the code under which its values are stored. */
interface Source {
  kind: IdentifierKind;
  description: KindDescription;
  code: number;
  /** The code for companies that no longer exist. */
  codeOfDissolved: number;
  textsOf(record: JsonRecord): readonly string[];
}

const META = '_meta.';
const lists = new Set(companyFields.filter(({ type }) => type === 'json').map(({ name }) => name));

const sources = { person: sourcesOf(personCodes), company: sourcesOf(companyCodes) };

function sourcesOf(codes: readonly KindCode[]): Source[] {
  return codes.flatMap(({ kind, code, fields = [] }) => {
    const ended = codes.find((other) => other.kind === kind && other.isOfDissolved);
    return fields.map((field) => ({
      kind,
      description: identifierKinds[kind],
      code,
      codeOfDissolved: ended?.code ?? code,
      textsOf: readerOf(field),
    }));
  });
}

function readerOf(field: string): Source['textsOf'] {
  if (field.startsWith(META)) {
    const member = field.slice(META.length);
    return (record) => {
      const value = asObject(record._meta)?.[member];
      return (Array.isArray(value) ? value : [value]).map(textOf);
    };
  }
  if (lists.has(field)) return (record) => listOf(record[field]);
  return (record) => [textOf(record[field])];
}

/** Names of the fields of an import row that hold identifiers. */
export function identifierFieldsOf(subject: 'person' | 'company'): string[] {
  const codes = subject === 'person' ? personCodes : companyCodes;
  return codes.flatMap(({ fields = [] }) => fields.filter((field) => !field.startsWith(META)));
}

/** Returns the identifiers of a record. The context has the record's country, for phones and registry numbers. */
export function identifiersOf(
  id: number,
  record: JsonRecord,
  context: NormaliseContext,
  isDissolved = false,
): IdentifierSet {
  const found = new IdentifierSet(id);
  for (const { kind, description, code, codeOfDissolved, textsOf } of sources[context.subject]) {
    for (const text of textsOf(record)) {
      const stated = statedText(kind, text);
      if (stated === '') continue;
      const normalised = description.normalise(stated, context);
      if (!('values' in normalised)) continue;
      // Alternative readings of a cell are for look-ups; a record is stored only under the first.
      const { values } = normalised;
      const stored = description.holdsSeveral === true ? values : [values[0]];
      for (const value of stored) found.add(kind, isDissolved ? codeOfDissolved : code, value);
    }
  }
  return found;
}

export function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  const text = coerceText(value);
  return typeof text === 'string' ? text : '';
}

export function listOf(value: unknown): readonly string[] {
  const texts = isAbsent(value) ? [] : coerceTexts(value);
  return Array.isArray(texts) ? texts : [];
}
