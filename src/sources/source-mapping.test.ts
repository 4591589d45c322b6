import { describe, expect, test } from 'vitest';
import { guessMapping } from './source-mapping.ts';

describe('the guessed mapping', () => {
  test('of people', () => {
    const header = [
      'Kundennummer',
      'Vorname',
      'Nachname',
      'E-Mail',
      'Mobil',
      'Telefon',
      'Firma',
      'Position',
      'Stadt',
      'Land',
      'Unsubscribed',
    ];
    const row = (place: number) => [
      String(place),
      'Ada',
      'Lark',
      `ada${place}@acme.example`,
      '+4915112345678',
      '+49301234567',
      'Acme GmbH',
      'CEO',
      'Berlin',
      'Germany',
      '',
    ];
    expect(guessMapping({ header, sample: [row(1), row(2)] })).toEqual({
      of: 'persons',
      columns: {
        key: ['Kundennummer'],
        given_name: ['Vorname'],
        family_name: ['Nachname'],
        email: ['E-Mail'],
        phone: ['Telefon'],
        mobile: ['Mobil'],
        company_name: ['Firma'],
        job_title: ['Position'],
        city: ['Stadt'],
        country: ['Land'],
        opt_out: ['Unsubscribed'],
      },
    });
  });

  test('of people takes no address of a second person of the row', () => {
    const header = ['Name', 'Email', 'Name (2)', 'Email (2)'];
    const sample = [['Ada Lark', 'ada@acme.example', 'Bob Roe', 'bob@acme.example']];
    expect(guessMapping({ header, sample }).columns).toEqual({
      full_name: ['Name'],
      email: ['Email'],
    });
  });

  test('of companies, whose key is in each row and once', () => {
    const header = [
      'ID',
      'Name',
      'Website',
      'Registration number',
      'Industry',
      'Employees',
      'Town',
      'Country',
    ];
    const row = (id: string, name: string) => [
      id,
      name,
      `${name}.example`,
      '01234567',
      'Banking',
      '12',
      'Leeds',
      'UK',
    ];
    const expected = {
      name: ['Name'],
      domain: ['Website'],
      registry_number: ['Registration number'],
      industry: ['Industry'],
      employees: ['Employees'],
      city: ['Town'],
      country: ['Country'],
    };
    expect(guessMapping({ header, sample: [row('1', 'acme'), row('2', 'bolt')] })).toEqual({
      of: 'companies',
      columns: { ...expected, key: ['ID'] },
    });
    expect(guessMapping({ header, sample: [row('1', 'acme'), row('1', 'bolt')] })).toEqual({
      of: 'companies',
      columns: expected,
    });
  });

  test('of neither is refused, with the columns', () => {
    const refused = () => guessMapping({ header: ['Colour', 'Weight'], sample: [['red', '3']] });
    expect(refused).toThrow(/as a name, an email or a profile \(Colour, Weight\)/);
  });
});
