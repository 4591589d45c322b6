import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AppError } from '../../core/lib/errors.ts';
import { type SearchParameter, searchParameters } from '../../core/search/fields.ts';
import { parseFilter } from '../../core/search/parse.ts';
import { parseItems } from '../../core/search/parse-items.ts';
import { splitQuery } from '../../core/search/parse-query.ts';
import { drawnFilter } from '../../core/search/random-filters.test-suite.ts';
import { Problem } from '../problem.ts';
import { conditionError } from './condition-error.ts';
import { controls, type FilterField, rowFields } from './filter-fields.ts';
import {
  type FilterForm,
  type Row,
  readForm,
  readRange,
  withRows,
  writeRange,
} from './filter-form.ts';
import {
  addressable,
  readFilter,
  readItems,
  tidyFilter,
  withValue,
  writeItems,
  writeParameter,
} from './filter-text.ts';

/** The meaning of a filter to the service, whatever the order of its parameters. */
function meaningOf(filter: string): unknown {
  const { conditions } = parseFilter(filter);
  return conditions.toSorted((one, other) => (one.parameter < other.parameter ? -1 : 1));
}

/** The filter as a form writes it that was filled in from nothing. */
function fillIn({ values, rows }: FilterForm): string {
  let filter = '';
  for (const [name, texts] of values) filter = withValue(filter, name, writeItems(texts));
  return withRows(
    filter,
    rows.map((row) => ({ ...row, raw: null })),
  );
}

describe('the form and the text of a filter are equal', () => {
  test('a form that is filled in as a text says means what the text means', () => {
    fc.assert(
      fc.property(drawnFilter, ({ query }) => {
        expect(meaningOf(fillIn(readForm(query)))).toEqual(meaningOf(query));
      }),
      { numRuns: 1000 },
    );
  });

  const word = fc.oneof(
    fc.constantFrom(
      'C++',
      'R&D',
      'a|b',
      '[x]',
      '50%',
      'x,y',
      '*',
      'a\\b',
      '東京',
      'a=b',
      '#1',
      '+44',
    ),
    fc.string({ unit: 'grapheme', minLength: 1 }).map((text) => text.replaceAll('\0', '').trim()),
  );
  const texts = fc.array(
    word.filter((text) => text !== '' && text !== 'null'),
    { minLength: 1, maxLength: 3 },
  );
  const number = fc.integer({ min: 1, max: 99_999 }).map(String);
  const range = fc.oneof(
    number,
    fc.tuple(number, fc.oneof(number, fc.constant(''))).map((ends) => ends.join('-')),
  );
  const valuesOf = (control: (typeof controls)[number]): fc.Arbitrary<readonly string[]> => {
    if (control.kind === 'ids') return fc.array(number, { minLength: 1, maxLength: 3 });
    if (control.kind === 'ranges') return fc.array(range, { minLength: 1, maxLength: 3 });
    if (control.kind !== 'choices') return texts;
    return fc.subarray(
      control.choices.map(({ value }) => value),
      { minLength: 1 },
    );
  };
  const values = fc
    .tuple(...controls.map((control) => fc.option(valuesOf(control), { nil: [] })))
    .map(
      (drawn) =>
        new Map(
          controls.flatMap(({ name }, at) => (drawn[at]?.length ? [[name, drawn[at]]] : [])),
        ) as FilterForm['values'],
    );
  const row = (field: FilterField): fc.Arbitrary<Row> =>
    fc.constantFrom(...field.questions).chain((question) =>
      texts.map((drawn) => ({
        name: field.name,
        question,
        values: question === 'is' ? drawn : [],
        text: '',
        raw: null,
      })),
    );
  const rows = fc
    .subarray(
      rowFields.flatMap(({ fields }) => fields),
      { maxLength: 4 },
    )
    // A parameter stands once: what has a control here may have no row beside it.
    .filter((fields) => fields.every(({ name }) => controls.every((one) => one.name !== name)))
    .chain((fields) => fc.tuple(...fields.map(row)));

  test('a text that a form was written to fills in the same form', () => {
    fc.assert(
      fc.property(values, rows, (drawnValues, drawnRows) => {
        const again = readForm(fillIn({ values: drawnValues, rows: drawnRows }));
        expect(again.values).toEqual(drawnValues);
        const same = ({ name, question, values: own }: Row) => ({ name, question, values: own });
        expect(again.rows.map(same)).toEqual(drawnRows.map(same));
      }),
      { numRuns: 500 },
    );
  });

  test('a change touches nothing but its parameter, readable or not', () => {
    const parts = fc.array(
      fc.oneof(
        fc.string({ unit: fc.constantFrom(...'a[]|*%+=\\ü ') }),
        fc.constantFrom('name=%zz', 'gender=[1|null]', 'gender=2', 'skills=*', 'isX=1', 'city'),
      ),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(parts, (drawn) => {
        const filter = drawn.join('&');
        const others = (text: string) =>
          readFilter(text).flatMap(({ name, raw }) => (name === 'gender' ? [] : [raw]));
        const changed = withValue(filter, 'gender', writeItems(['male']));
        expect(others(changed)).toEqual(others(filter));
        expect(readForm(changed).values.get('gender')).toEqual(['male']);
        const { rows: own } = readForm(filter);
        expect(
          readFilter(withRows(filter, own))
            .map(({ raw }) => raw)
            .toSorted(),
        ).toEqual(
          readFilter(filter)
            .map(({ raw }) => raw)
            .toSorted(),
        );
      }),
      { numRuns: 1000 },
    );
  });
});

describe('a filter is read as the service reads it', () => {
  test.each([false, true])('its values, with commas between them: %s', (commas) => {
    const alphabet = [...'ab[]|,*\\ ', 'null'];
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...alphabet) }), (text) => {
        let read: ReturnType<typeof parseItems> | null = null;
        try {
          read = parseItems('name', text, { commas });
        } catch {}
        expect(readItems(text, { commas })).toEqual(read);
      }),
      { numRuns: 5000 },
    );
  });

  test('its parameters, whatever is encoded', () => {
    const value = fc.string({ unit: fc.constantFrom(...'ab+[]|% =#ü') });
    fc.assert(
      fc.property(value, value, (plain, other) => {
        const encoded = `name=${encodeURIComponent(plain)}&surname=${other.replaceAll('%', '')}`;
        const read = readFilter(encoded).map(({ name, text }) => ({ name, text }));
        const split = splitQuery(encoded).map(({ name, value: text }) => ({ name, text }));
        expect(read).toEqual(split);
        const { raw } = writeParameter('name', plain);
        expect(splitQuery(raw)).toEqual([{ name: 'name', value: plain, position: 1 }]);
        const sent = new URL(`http://a.example/?${addressable(raw)}`).search.slice(1);
        // An address does not end in spaces; neither does a value.
        expect(splitQuery(sent)[0]?.value.trim()).toBe(plain.trim());
      }),
      { numRuns: 1000 },
    );
  });

  test('the text `null` is a value, and not what is absent', () => {
    const { raw } = writeParameter('surname', writeItems(['null']) ?? '');
    expect(parseFilter(raw).conditions).toMatchObject([
      { presence: { absent: false }, texts: ['Null'] },
    ]);
  });

  test('of a pasted address only the filter is taken', () => {
    const filter = 'positionList=[Why?|C++]&name=a b';
    expect(tidyFilter(`https://a.example/personsearch/?${filter}`)).toBe(filter);
    expect(tidyFilter(`?${filter}\n`)).toBe(filter);
    expect(tidyFilter(filter)).toBe(filter);
  });
});

describe('a range', () => {
  const meaning = (range: string) => parseFilter(`salary=${range}`).conditions[0];

  test.each(['3', '0', '5-9', '9-9', '10-', '1,000-2,500', '0-7', '1,000 - '])(
    '%s is the same after its ends have been shown and written',
    (range) => {
      expect(meaning(writeRange(readRange(range)))).toEqual(meaning(range));
    },
  );

  test('without a beginning begins at nothing, and without ends is none', () => {
    expect(writeRange({ from: '', to: '30' })).toBe('0-30');
    expect(writeRange({ from: '', to: '' })).toBe('');
  });
});

describe('what is wrong with a filter is said of its value', () => {
  const said = (filter: string, name: string) => {
    try {
      parseFilter(filter);
    } catch (error) {
      const { status, code, message, errors } = error as AppError;
      return conditionError(new Problem(status, { code, detail: message, errors }), filter, name);
    }
    return 'nothing';
  };

  test.each([
    ['ageRange=[25-34|45-5]', 'ageRange', '“45-5” is a range that ends before it begins.'],
    ['companyId=[1,x]', 'companyId', '“x” must be a whole number `n`, or a range `a-b` or `a-`.'],
    ['gender=1&gender=2', 'gender', '“gender” is given twice.'],
    ['nme=x', 'nme', '“nme” is not a recognised parameter.'],
    ['name', 'name', '“name” has no value: write `name=value`.'],
    ['name=[a|b', 'name', 'At character 1: has a bracket that is not closed.'],
    ['name=[a|b', 'surname', undefined],
  ])('%s', (filter, name, words) => {
    expect(said(filter, name)).toBe(words);
  });
});

describe('every parameter of the service can be asked for', () => {
  const fields = rowFields.flatMap((group) => group.fields);

  test('by a control or in a row, and nothing else', () => {
    const known = new Set([...controls, ...fields].map(({ name }) => name));
    expect([...known].toSorted()).toEqual([...searchParameters.keys()].toSorted());
  });

  test('as what it is', () => {
    const kinds: Record<SearchParameter['kind'], (string | undefined)[]> = {
      ids: ['ids'],
      text: ['texts', 'text'],
      skills: ['texts'],
      place: ['places'],
      integer: ['integer', 'ranges'],
      overlap: ['ranges'],
      age: ['ranges'],
      choice: ['choices'],
      words: ['words'],
      object: ['object'],
      time: ['time'],
      owned: ['choices'],
    };
    for (const [name, { kind, takesPresence }] of searchParameters) {
      const control = controls.find((one) => one.name === name);
      const field = fields.find((one) => one.name === name);
      expect(kinds[kind], name).toContain(control?.kind ?? field?.kind);
      expect(field?.questions.includes('absent') ?? false, name).toBe(takesPresence);
    }
  });
});
