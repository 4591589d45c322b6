import { subjectOf } from './operations.ts';

/** The columns that people look for first, by their name in a file. */
const headlines: Readonly<Record<'person' | 'company', Readonly<Record<string, string>>>> = {
  person: {
    'person.workEmail': 'Work email',
    'email.address': 'Work email',
    'person.email': 'Email',
    'person.mobile': 'Mobile',
    'person.phone': 'Phone',
    'person.professional_network': 'Profile',
  },
  company: {
    'company.domain': 'Domain',
    'company.phone': 'Phone',
    'company.email': 'Email',
    'company.professional_network': 'Profile',
    'company.employees': 'Employees',
    'company.logo_url': 'Logo',
    'financials.revenue': 'Revenue',
  },
};

/**
 * Returns the columns that people look for first, of those that a match has: what the operation cannot fill, or no match has,
 * says nothing.
 * @param fillRate shares of the matches by column
 */
export function headlinesOf(
  operation: string,
  fillRate: Readonly<Record<string, number>>,
): { column: string; label: string; rate: number }[] {
  return Object.entries(headlines[subjectOf(operation)]).flatMap(([column, label]) => {
    const rate = fillRate[column] ?? 0;
    return rate === 0 ? [] : [{ column, label, rate }];
  });
}
