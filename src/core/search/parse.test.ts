import { describe, expect, test } from 'vitest';
import { must } from '../lib/assert.ts';
import { AppError } from '../lib/errors.ts';
import { parseFilter, parseSearchQuery } from './parse.ts';

/** Returns the error of a query, as `parameter@position`. */
function refusal(query: string): string {
  try {
    parseFilter(query);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    expect(error.status).toBe(400);
    const [detail] = error.errors;
    return detail === undefined ? error.code : `${detail.field}@${detail.position}`;
  }
  return 'accepted';
}

/** Returns the distinctive members of a query's only condition. */
function conditionOf(query: string): Record<string, unknown> {
  const { conditions } = parseFilter(query);
  expect(conditions).toHaveLength(1);
  const { parameter: _parameter, field: _field, presence, ...rest } = must(conditions[0], query);
  const { present, absent } = presence;
  return { ...rest, ...(present ? { present } : {}), ...(absent ? { absent } : {}) };
}

describe('a query is refused with its parameter and position', () => {
  test.each([
    ['', 'filter_required'],
    ['&', 'filter_required'],
    ['name', 'name@1'],
    ['surname=x&name', 'name@11'],
    ['nonsense=1', 'nonsense@1'],
    ['surname=x&__proto__=1', '__proto__@11'],
    ['constructor=1', 'constructor@1'],
    ['Name=x', 'Name@1'],
    ['=x', '@1'],
    ['name=a&name=b', 'name@8'],
    ['name=a&n%61me=b', 'name@8'],
    ['limit=5&name=a', 'limit@1'],
    ['name=a&cursor=b', 'cursor@8'],
    ['name=', 'name@1'],
    ['name=%20', 'name@1'],
    ['name=[]', 'name@2'],
    ['name=[a||b]', 'name@4'],
    ['name=[a|]', 'name@4'],
    ['name=[|a]', 'name@2'],
    ['name=[ | ]', 'name@3'],
    ['name=[a|b', 'name@1'],
    ['name=[', 'name@1'],
    ['name=a]', 'name@2'],
    ['name=[a]b', 'name@4'],
    ['name=[a][b]', 'name@4'],
    ['name=[[a]]', 'name@2'],
    ['name=a|b', 'name@2'],
    ['name=a\\', 'name@2'],
    ['name=a\\n', 'name@2'],
    ['name=Jo*', 'name@3'],
    ['name=[a|**]', 'name@4'],
    ['name=%', 'name@1'],
    ['name=ab%4', 'name@3'],
    ['name=ab%zz', 'name@3'],
    ['name=a%C3%28', 'name@2'],
    ['name=%FF', 'name@1'],
    ['name=%ED%A0%80', 'name@1'],
    ['name=\ud800', 'name@1'],
    ['name=a%00b', 'name@2'],
    ['name%00=b', 'name\0@1'],
    ['positionIds=1,2', 'positionIds@2'],
    ['positionIds=1|2', 'positionIds@2'],
    ['positionIds=[1,x]', 'positionIds@4'],
    ['positionIds=[1,,2]', 'positionIds@4'],
    ['positionIds=-1', 'positionIds@1'],
    ['positionIds=1.5', 'positionIds@1'],
    ['positionIds=1e3', 'positionIds@1'],
    ['positionIds=0x1', 'positionIds@1'],
    ['positionIds=99999999999999999999', 'positionIds@1'],
    ['positionIds=*', 'positionIds@1'],
    ['birthYear=1990-1980', 'birthYear@1'],
    ['birthYear=[1980|1990-1980]', 'birthYear@7'],
    ['birthYear=-1980', 'birthYear@1'],
    ['birthYear=1,980', 'birthYear@1'],
    ['headCount=[50-10]', 'headCount@2'],
    ['headCount=[*]', 'headCount@2'],
    ['salary=45,00-50,000', 'salary@1'],
    ['salary=[45,000-55,000|55,000-45,000]', 'salary@16'],
    ['ageRange=[30-20]', 'ageRange@2'],
    ['experience=[5-2]', 'experience@2'],
    ['experience=many', 'experience@1'],
    ['gender=3', 'gender@1'],
    ['gender=[male|x]', 'gender@7'],
    ['gender=toString', 'gender@1'],
    ['isFB=0', 'isFB@1'],
    ['isX=2', 'isX@1'],
    ['emailTypeId=3', 'emailTypeId@1'],
    ['locationList=[London]', 'locationList@2'],
    ['locationList=[London:]', 'locationList@2'],
    ['createdAt=yesterday', 'createdAt@1'],
    ['createdAt=2024-02-30', 'createdAt@1'],
    ['createdAt=2024-01-02..2024-01-01', 'createdAt@1'],
    ['createdAt=2024-01-01..2024-01-01', 'createdAt@1'],
    ['createdAt=..2024-01-01', 'createdAt@1'],
    ['createdAt=2024-01-01..x', 'createdAt@1'],
    ['createdAt=2024-01-01..2024-01-02..2024-01-03', 'createdAt@1'],
    ['cities=London', 'cities@1'],
    ['cities.nonsense=1', 'cities.nonsense@1'],
    ['skills=[a|*]', 'skills@4'],
    [`ageRange=[${Array(101).fill('20-30').join('|')}]`, 'ageRange@602'],
    [`name=[${Array(10_001).fill('x').join('|')}]`, 'name@20003'],
  ])('%s', (query, expected) => {
    expect(refusal(query)).toBe(expected);
  });
});

describe('a value is read', () => {
  const texts = (...list: string[]) => ({ node: 'text', texts: list });
  const ranges = (...list: [number, number | null][]) => ({
    node: 'integer',
    ranges: list.map(([min, max]) => ({ min, max })),
  });
  const span = (from: string, until: string | null) => ({ node: 'time', spans: [{ from, until }] });
  test.each([
    ['name=Ada', texts('Ada')],
    ['name=[Ada]', texts('Ada')],
    ['name=[ Ada | Bob ]', texts('Ada', 'Bob')],
    ['name=Ada%20Lee', texts('Ada Lee')],
    ['name=%5BAda%7CBob%5D', texts('Ada', 'Bob')],
    ['name=Ada=Lee', texts('Ada=Lee')],
    ['name=%2520', texts('%20')],
    ['name=%C3%89ve', texts('Éve')],
    ['name=😀', texts('😀')],
    ['name=Ada+Lee', texts('Ada Lee')],
    ['name=[Ada+Lee|C%2B%2B]', texts('Ada Lee', 'C++')],
    ['name=[C++|C+]', texts('C++', 'C+')],
    ['phone=+442071838750', texts('+442071838750')],
    ['name=a\\|b\\[c\\]\\,\\*\\\\', texts('a|b[c],*\\')],
    ['name=\\*', texts('*')],
    ['name=a,b', texts('a,b')],
    ['name=Null', texts('Null')],
    ['name=[*]', { ...texts(), present: true }],
    ['name=null', { ...texts(), absent: true }],
    ['name=[null|Ada|*]', { ...texts('Ada'), absent: true, present: true }],
    ['positionList=null', texts('null')],
    ['positionIds=[1,2]', ranges([1, 1], [2, 2])],
    ['positionIds=[1|2, 3]', ranges([1, 1], [2, 2], [3, 3])],
    ['companyId=[5-7]', ranges([5, 7])],
    ['birthYear=1980-1990', ranges([1980, 1990])],
    ['birthYear=1980-', ranges([1980, null])],
    ['birthYear=[0|1970]', ranges([0, 0], [1970, 1970])],
    ['experience=[3|5-9]', ranges([3, 3], [5, 9])],
    ['experience.text=two words', { node: 'words', texts: ['two words'] }],
    ['skills=[SQL|C++]', { node: 'skills', texts: ['SQL', 'C++'] }],
    ['gender=[1|female]', texts('male', 'female')],
    ['gender=[Male|FEMALE]', texts('male', 'female')],
    ['isFB=1', { node: 'anyPresent', fields: ['social_aId'] }],
    ['isX=[1]', { node: 'anyPresent', fields: ['twitter'] }],
    ['emailTypeId=[1|2]', { node: 'anyPresent', fields: ['workEmail', 'email'] }],
    ['phoneTypeId=2', { node: 'anyPresent', fields: ['phone'] }],
    ['salary=[45,000-55,000]', { node: 'overlap', ranges: [{ min: 45_000, max: 55_000 }] }],
    ['headCount=1,000-', { node: 'overlap', ranges: [{ min: 1000, max: null }] }],
    ['ageRange=[20-30]', { node: 'age', ranges: [{ min: 20, max: 30 }] }],
    [
      'locationList=[Paris:France|:GB]',
      {
        node: 'place',
        places: [
          { city: 'Paris', country: 'France' },
          { city: null, country: 'GB' },
        ],
      },
    ],
    ['createdAt=2024-02-29', span('2024-02-29T00:00:00', '2024-03-01T00:00:00')],
    ['createdAt=2024-01-31T23:59:59', span('2024-01-31T23:59:59', '2024-02-01T00:00:00')],
    ['createdAt=2024-01-01..2024-02-01', span('2024-01-01T00:00:00', '2024-02-01T00:00:00')],
    ['createdAt=2024-01-01T08:30Z..', span('2024-01-01T08:30:00', null)],
    ['createdAt=9999-12-31', span('9999-12-31T00:00:00', '10000-01-01T00:00:00')],
    ['cities=*', { node: 'object', present: true }],
    ['cities.name=Rome', { ...texts('Rome'), inside: { object: 'cities', path: ['name'] } }],
  ])('%s', (query, expected) => {
    expect(conditionOf(query)).toEqual(expected);
  });

  // To join them one by one takes quadratic time: the whole text is copied for each.
  test.each([
    ['+', '+'],
    ['b+', ' '],
  ])('in linear time, also with many %s', (piece, read) => {
    const [text = ''] = conditionOf(`surname=a+${piece.repeat(400_000)}a`).texts as string[];
    expect(text.length).toBe(2 + piece.length * 400_000 + 1);
    expect(text.at(-2)).toBe(read);
  });

  test('up to ten thousand items', () => {
    const ids = Array.from({ length: 10_000 }, (_, index) => index + 1);
    const condition = conditionOf(`positionIds=[${ids.join('|')}]`);
    expect(condition.ranges).toHaveLength(10_000);
  });
});

test('a call may combine page parameters with its filter, and they are parsed separately', () => {
  const { filter, page } = parseSearchQuery('skip=5&name=Ada&limit=10');
  expect(filter.conditions.map(({ parameter }) => parameter)).toEqual(['name']);
  expect([...page.values()].map(({ name, value }) => `${name}=${value}`)).toEqual([
    'skip=5',
    'limit=10',
  ]);
  expect(() => parseSearchQuery('skip=5')).toThrow('at least one filter');
});
