/** Filters as sent, each with an equivalent handwritten statement. */

interface SearchCase {
  name: string;
  query: string;
  /** Ids of `person_search s`; the order and the limit are added. */
  byHand: string;
}

const FROM = 'select s.id from person_search s where';
const city = (name: string, iso2: string) => `s.city_id in (select c.id from cities c
  join countries n on n.id = c.country_id where c.name = '${name}' and n.iso2 = '${iso2}')`;
const served = `not exists (select from suppressed_persons g where g.person_id = s.id)`;

export const searchCases: readonly SearchCase[] = [
  {
    name: 'common',
    query: 'gender=female',
    byHand: `${FROM} s.gender = 'female' and ${served}`,
  },
  {
    name: 'position',
    query: 'positionIds=[111]',
    byHand: `${FROM} s.position_id = 111 and ${served}`,
  },
  {
    name: 'positions-country',
    query: 'positionIds=[111|30|219|5|7]&locationList=[:GB]',
    byHand: `${FROM} s.position_id in (111, 30, 219, 5, 7) and s.country_id = (
      select id from countries where iso2 = 'GB') and ${served}`,
  },
  {
    name: 'position-city-salary',
    query: 'positionIds=111&locationIds=41&salary=[40,000-60,000]',
    byHand: `${FROM} s.position_id = 111 and s.city_id = 41 and s.salary_min <= 60000
      and s.salary_max >= 40000 and ${served}`,
  },
  {
    name: 'skills',
    query: 'skills=[Kafka|Airflow]',
    byHand: `${FROM} s.skills @> array['kafka', 'airflow'] and ${served}`,
  },
  {
    name: 'skills-place-reachable',
    query: 'skills=[Budgeting]&locationList=[London:GB]&emailTypeId=1',
    byHand: `${FROM} s.skills @> array['budgeting'] and ${city('London', 'GB')}
      and s.present & 256 <> 0 and ${served}`,
  },
  {
    name: 'title-age-sex',
    query: 'positionList=[Accountant]&ageRange=[40-55]&gender=2',
    byHand: `${FROM} s.position_name = 'accountant' and s.gender = 'female'
      and s.birth_year between extract(year from now() at time zone 'UTC') - 55
        and extract(year from now() at time zone 'UTC') - 40 and ${served}`,
  },
  {
    name: 'industry-size-experience',
    query: 'industryIds=[3|5|9]&headCount=[50-249]&experience=[5-10]',
    byHand: `${FROM} s.industry_id in (3, 5, 9) and s.staff_min <= 249 and s.staff_max >= 50
      and s.years_experience between 5 and 10 and ${served}`,
  },
  {
    name: 'surname',
    query: 'surname=[Smith]&phoneTypeId=1',
    byHand: `${FROM} s.surname = 'smith' and s.present & (1::bigint << 50) <> 0 and ${served}`,
  },
  {
    name: 'company',
    query: 'companyId=[17|4711|100000]',
    byHand: `${FROM} s.company_id in (17, 4711, 100000) and ${served}`,
  },
];
