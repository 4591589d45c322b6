import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { personFields } from '../graph/fields.ts';
import { identifierFieldsOf } from '../graph/import/identifiers-of.ts';
import { personIdentifiers } from '../graph/import/person-row.ts';
import { parseFilter } from '../search/parse.ts';
import {
  assertCountedForFree,
  discloseFields,
  discloseTotal,
  FEW,
  identifyingFields,
  identifyingParameter,
} from './free-responses.ts';

describe('a free total', () => {
  test('is the same for every number below ten, zero included', () => {
    for (let people = 0; people < FEW; people++) {
      expect(discloseTotal(people)).toEqual({ total: 10, total_is: 'below' });
      expect(discloseFields(people, [['mobile', people]])).toEqual({});
    }
  });

  test.each([
    [10, 10],
    [14, 10],
    [15, 20],
    [99, 100],
    [104, 100],
    [345, 350],
    [1_234, 1_200],
    [9_960, 10_000],
    [12_499, 12_000],
    [40_112_233, 40_000_000],
  ])('of %i people is about %i', (people, total) => {
    expect(discloseTotal(people)).toEqual({ total: total, total_is: 'about' });
  });

  test('never distinguishes two numbers within one step, and is at most half a step off', () => {
    fc.assert(
      fc.property(fc.integer({ min: 10, max: 10_000_000 }), (people) => {
        const { total } = discloseTotal(people);
        const step = Math.max(10, 10 ** (String(people).length - 2));
        expect(total % step).toBe(0);
        expect(Math.abs(total - people)).toBeLessThanOrEqual(step / 2);
      }),
    );
  });

  test('stays the same when a group gains one person, at least nine times out of ten', () => {
    let steps = 0;
    for (let people = 10; people < 10_000; people++) {
      if (discloseTotal(people).total !== discloseTotal(people + 1).total) steps++;
    }
    // A hundred steps of ten below a thousand, ninety of a hundred above.
    expect(steps).toBeLessThanOrEqual(100 + 90);
  });

  test('has fields that are rounded like it and never exceed it', () => {
    const counts = [
      ['id', 1_249],
      ['mobile', 1_201],
      ['twitter', 49],
      ['school', 0],
    ] as const;
    expect(discloseFields(1_249, counts)).toEqual({
      id: 1_200,
      mobile: 1_200,
      twitter: 0,
      school: 0,
    });
    expect(
      discloseFields(14, [
        ['email', 14],
        ['mobile', 4],
        ['phone', 5],
      ]),
    ).toEqual({
      email: 10,
      mobile: 0,
      phone: 10,
    });
  });
});

describe('a filter that names people', () => {
  test.each([
    ['email=ada@home.example', 'email'],
    ['gender=1&workEmail=[a@b.example|c@d.example]', 'workEmail'],
    ['id=1-10', 'id'],
    ['name=Ada', 'name'],
    ['surname=[*|Lovely]', 'surname'],
    ['birthDate=1980-05-03', 'birthDate'],
    ['phone=%2B441632960001', 'phone'],
    ['mobile=[null|%2B44]', 'mobile'],
    ['isX=1&twitter=ada', 'twitter'],
    ['social_aId=7', 'social_aId'],
    ['street=1 High Street', 'street'],
    ['summary=Hello', 'summary'],
  ])('%s is not counted for free, and the message names it', (query, parameter) => {
    const filter = parseFilter(query);
    expect(identifyingParameter(filter)).toBe(parameter);
    expect(() => assertCountedForFree(filter)).toThrowError(
      expect.objectContaining({
        code: 'identifying_filter',
        status: 400,
        errors: [expect.objectContaining({ field: parameter })],
      }),
    );
  });

  test.each([
    'workEmail=*',
    'email=null&mobile=[*|null]',
    'isX=1&isFB=1&emailTypeId=1&phoneTypeId=2',
    'workEmailStatus=valid',
    'gender=female&ageRange=30-40&locationList=[London:GB]&positionList=[CTO]&skills=[C|D]',
    'company.name=Acme&companyId=17&headCount=[50-249]&salary=[1,000-2,000]&experience=[3-5]',
    'createdAt=2026-11-01..&cities=*&postcode=E1&experience.text=[senior engineer]',
  ])('%s describes a group', (query) => {
    const filter = parseFilter(query);
    expect(identifyingParameter(filter)).toBeNull();
    expect(() => assertCountedForFree(filter)).not.toThrow();
  });

  test('is recognised by fields of the record, and by identifiers that only an import has', () => {
    const names = [...personFields.map(({ name }) => name), ...identifierFieldsOf('person')];
    expect([...identifyingFields].filter((field) => !names.includes(field))).toEqual([]);
  });

  test.each(['a@b.example', '+442079460000', 'https://www.linkedin.com/in/ada', '@ada'])(
    'is recognised by every field that stores %s as an identifier',
    (value) => {
      const stored = personFields
        .map(({ name }) => name)
        .filter((name) => personIdentifiers(1, { [name]: value }, undefined).lines() !== '');
      expect(stored).not.toEqual([]);
      expect(stored.filter((name) => !identifyingFields.has(name))).toEqual([]);
    },
  );

  // A new field of the record is added to one of the two lists, after considering who knows its value of a person.
  test('is not recognised by any of these fields', () => {
    const groups = personFields
      .map(({ name }) => name)
      .filter((name) => !identifyingFields.has(name));
    expect(groups).toEqual([
      'createdAt',
      'whenUpdated',
      'title',
      'gender',
      'birthYear',
      'professional_networkConnections',
      'professional_networkStatus',
      'twitterStatus',
      'social_aStatus',
      'industryId',
      'industries',
      'position',
      'positionId',
      'positions',
      'experience',
      'inferredSalary',
      'inferredYearsExperience',
      'skills',
      'school',
      'profileLanguage',
      'language',
      'serviceCategories',
      'pastCompany',
      'pastCompanyId',
      'pastCompanies',
      'companyId',
      'company',
      'currentCompanyId',
      'currentCompanies',
      'locality',
      'postcode',
      'cityId',
      'cities',
      'countryId',
      'countries',
      'regionId',
      'regions',
      'phoneStatus',
      'mobileStatus',
      'emailStatus',
      'workEmailStatus',
      'dataSourceType',
      'statusType',
      'bounceResponseType',
      'lastPostDate',
    ]);
  });
});
