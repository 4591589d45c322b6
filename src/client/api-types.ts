/** The JSON of the HTTP API. Generated from the OpenAPI document by `npm run docs`: do not edit. */

export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  request_id: string;
  errors: {
    field?: string | undefined;
    message: string;
  }[];
}

export interface Person {
  /** Id of the person */
  id: number;
  /** Time at which the record was created, without a zone */
  createdAt: string;
  /** Time of the last change, without a zone */
  whenUpdated: string;
  /** Form of address, such as Dr */
  title: string;
  /** Given name */
  name: string;
  /** Family name */
  surname: string;
  /** `male` or `female` */
  gender: string;
  /** Date of birth */
  birthDate: string | null;
  /** Year of birth; 0 when unknown */
  birthYear: number;
  /** Domain of the person’s own website */
  domain: string | null;
  /** Personal or primary email address */
  email: string;
  /** Work email address */
  workEmail: string;
  /** Handle of the professional profile */
  professional_network: string;
  /** Number of connections of the professional profile; 0 when unknown */
  professional_networkConnections: number;
  /** Status of the professional profile */
  professional_networkStatus: string | null;
  /** Microblog handle */
  twitter: string | null;
  /** Status of the microblog handle */
  twitterStatus: string | null;
  /** Id in the social network */
  social_aId: string;
  /** User name in the social network */
  social_aUsername: string;
  /** Status of the social profile */
  social_aStatus: string | null;
  /** Id of the industry; 0 when unknown */
  industryId: number;
  /** Industry, with its name */
  industries: Reference | null;
  /** Current job title, in the person’s own words */
  position: string;
  /** Id of the job title; 0 when unknown */
  positionId: number;
  /** Job title, with its name */
  positions: Reference | null;
  /** Past roles, as free text */
  experience: string;
  /** Estimated yearly salary, `<min>-<max>` */
  inferredSalary: string;
  /** Estimated years of experience; 0 when unknown */
  inferredYearsExperience: number;
  /** Skills, separated by commas */
  skills: string;
  /** Summary of the profile */
  summary: string;
  /** School or university */
  school: string | null;
  /** Language of the profile */
  profileLanguage: string | null;
  /** Languages, as a text */
  language: string;
  /** Services that the person offers */
  serviceCategories: string | null;
  /** Name of a past employer */
  pastCompany: string;
  /** Id of that past employer */
  pastCompanyId: number | null;
  /** Past employers */
  pastCompanies: Reference[] | null;
  /** Id of the current employer; 0 when unknown */
  companyId: number;
  /** Current employer, with its name */
  company: Reference | null;
  /** Id of another current employer */
  currentCompanyId: number | null;
  /** Current employers */
  currentCompanies: Reference[] | null;
  /** Place, `<city>, <region>, <country>` */
  locality: string;
  /** Latitude and longitude in degrees, separated by a comma */
  locationGeo: string;
  /** Street and number */
  street: string;
  /** Postcode */
  postcode: string | null;
  /** IP address */
  ipAddress: string | null;
  /** Id of the city; 0 when unknown */
  cityId: number;
  /** City, with its region and country; id 0 when unknown */
  cities: City;
  /** Id of the country; 0 when unknown */
  countryId: number;
  /** Country, with its name */
  countries: Reference | null;
  /** Id of the region */
  regionId: number | null;
  /** Region, with its name */
  regions: Reference | null;
  /** Phone number in E.164 form, with a plus */
  phone: string;
  /** Mobile number in E.164 form, with a plus */
  mobile: string | null;
  /** Status of the phone number */
  phoneStatus: string | null;
  /** Status of the mobile number */
  mobileStatus: string | null;
  /** Status of the personal address */
  emailStatus: string | null;
  /** Status of the work address, such as `valid` or `catch_all` */
  workEmailStatus: string | null;
  /** Code of the source, as imported */
  dataSourceType: number;
  /** Code of the record’s status, as imported */
  statusType: number;
  /** Code of the last bounce, as imported */
  bounceResponseType: number;
  /** Address of the profile image */
  profileImage: string | null;
  /** Key of the stored profile image */
  profileImageMapping: string | null;
  /** Text of the last post */
  lastPost: string | null;
  /** Time of the last post, without a zone */
  lastPostDate: string | null;
}

export interface Reference {
  id: number;
  name: string;
}

export interface City {
  id: number;
  name: string;
  countryId: number;
  countries: Reference | null;
  regionId: number;
  regions: Reference | null;
  createdAt: string;
}

export interface ChosenPerson {
  /** Id of the person */
  id?: number | undefined;
  /** Time at which the record was created, without a zone */
  createdAt?: string | undefined;
  /** Time of the last change, without a zone */
  whenUpdated?: string | undefined;
  /** Form of address, such as Dr */
  title?: string | undefined;
  /** Given name */
  name?: string | undefined;
  /** Family name */
  surname?: string | undefined;
  /** `male` or `female` */
  gender?: string | undefined;
  /** Date of birth */
  birthDate?: string | null | undefined;
  /** Year of birth; 0 when unknown */
  birthYear?: number | undefined;
  /** Domain of the person’s own website */
  domain?: string | null | undefined;
  /** Personal or primary email address */
  email?: string | undefined;
  /** Work email address */
  workEmail?: string | undefined;
  /** Handle of the professional profile */
  professional_network?: string | undefined;
  /** Number of connections of the professional profile; 0 when unknown */
  professional_networkConnections?: number | undefined;
  /** Status of the professional profile */
  professional_networkStatus?: string | null | undefined;
  /** Microblog handle */
  twitter?: string | null | undefined;
  /** Status of the microblog handle */
  twitterStatus?: string | null | undefined;
  /** Id in the social network */
  social_aId?: string | undefined;
  /** User name in the social network */
  social_aUsername?: string | undefined;
  /** Status of the social profile */
  social_aStatus?: string | null | undefined;
  /** Id of the industry; 0 when unknown */
  industryId?: number | undefined;
  /** Industry, with its name */
  industries?: Reference | null | undefined;
  /** Current job title, in the person’s own words */
  position?: string | undefined;
  /** Id of the job title; 0 when unknown */
  positionId?: number | undefined;
  /** Job title, with its name */
  positions?: Reference | null | undefined;
  /** Past roles, as free text */
  experience?: string | undefined;
  /** Estimated yearly salary, `<min>-<max>` */
  inferredSalary?: string | undefined;
  /** Estimated years of experience; 0 when unknown */
  inferredYearsExperience?: number | undefined;
  /** Skills, separated by commas */
  skills?: string | undefined;
  /** Summary of the profile */
  summary?: string | undefined;
  /** School or university */
  school?: string | null | undefined;
  /** Language of the profile */
  profileLanguage?: string | null | undefined;
  /** Languages, as a text */
  language?: string | undefined;
  /** Services that the person offers */
  serviceCategories?: string | null | undefined;
  /** Name of a past employer */
  pastCompany?: string | undefined;
  /** Id of that past employer */
  pastCompanyId?: number | null | undefined;
  /** Past employers */
  pastCompanies?: Reference[] | null | undefined;
  /** Id of the current employer; 0 when unknown */
  companyId?: number | undefined;
  /** Current employer, with its name */
  company?: Reference | null | undefined;
  /** Id of another current employer */
  currentCompanyId?: number | null | undefined;
  /** Current employers */
  currentCompanies?: Reference[] | null | undefined;
  /** Place, `<city>, <region>, <country>` */
  locality?: string | undefined;
  /** Latitude and longitude in degrees, separated by a comma */
  locationGeo?: string | undefined;
  /** Street and number */
  street?: string | undefined;
  /** Postcode */
  postcode?: string | null | undefined;
  /** IP address */
  ipAddress?: string | null | undefined;
  /** Id of the city; 0 when unknown */
  cityId?: number | undefined;
  /** City, with its region and country; id 0 when unknown */
  cities?: City | undefined;
  /** Id of the country; 0 when unknown */
  countryId?: number | undefined;
  /** Country, with its name */
  countries?: Reference | null | undefined;
  /** Id of the region */
  regionId?: number | null | undefined;
  /** Region, with its name */
  regions?: Reference | null | undefined;
  /** Phone number in E.164 form, with a plus */
  phone?: string | undefined;
  /** Mobile number in E.164 form, with a plus */
  mobile?: string | null | undefined;
  /** Status of the phone number */
  phoneStatus?: string | null | undefined;
  /** Status of the mobile number */
  mobileStatus?: string | null | undefined;
  /** Status of the personal address */
  emailStatus?: string | null | undefined;
  /** Status of the work address, such as `valid` or `catch_all` */
  workEmailStatus?: string | null | undefined;
  /** Code of the source, as imported */
  dataSourceType?: number | undefined;
  /** Code of the record’s status, as imported */
  statusType?: number | undefined;
  /** Code of the last bounce, as imported */
  bounceResponseType?: number | undefined;
  /** Address of the profile image */
  profileImage?: string | null | undefined;
  /** Key of the stored profile image */
  profileImageMapping?: string | null | undefined;
  /** Text of the last post */
  lastPost?: string | null | undefined;
  /** Time of the last post, without a zone */
  lastPostDate?: string | null | undefined;
  'industries.id'?: number | null | undefined;
  'industries.name'?: string | null | undefined;
  'positions.id'?: number | null | undefined;
  'positions.name'?: string | null | undefined;
  'countries.id'?: number | null | undefined;
  'countries.name'?: string | null | undefined;
  'regions.id'?: number | null | undefined;
  'regions.name'?: string | null | undefined;
  'company.id'?: number | null | undefined;
  'company.name'?: string | null | undefined;
  'pastCompanies.id'?: string | null | undefined;
  'pastCompanies.name'?: string | null | undefined;
  'currentCompanies.id'?: string | null | undefined;
  'currentCompanies.name'?: string | null | undefined;
  'cities.id'?: number | null | undefined;
  'cities.name'?: string | null | undefined;
  'cities.countryId'?: number | null | undefined;
  'cities.countries.id'?: number | null | undefined;
  'cities.countries.name'?: string | null | undefined;
  'cities.regionId'?: number | null | undefined;
  'cities.regions.id'?: number | null | undefined;
  'cities.regions.name'?: string | null | undefined;
  'cities.createdAt'?: string | null | undefined;
  city?: string | null | undefined;
  region?: string | null | undefined;
  country?: string | null | undefined;
  industry?: string | null | undefined;
}

export interface Company {
  /** Id of the company */
  id: number;
  /** Time at which the record was created, without a zone */
  createdAt: string;
  /** Time of the last change, without a zone */
  whenUpdated: string;
  /** Name of the company */
  name: string;
  /** Main domain */
  domain: string | null;
  /** Address of the website */
  website: string | null;
  /** Handle of the company’s professional profile */
  professional_network: string | null;
  /** Number in the company register */
  registryNumber: string | null;
  /** Country of the register, two letters */
  registryCountry: string | null;
  /** Phone number in E.164 form, with a plus */
  phone: string | null;
  /** Email address */
  email: string | null;
  /** Microblog handle */
  twitter: string | null;
  /** Id of the industry */
  industryId: number | null;
  /** Industry, with its name */
  industries: Reference | null;
  /** Range of employees, such as `50-249` */
  headCount: string | null;
  /** Number of employees */
  employees: number | null;
  /** Year or date of foundation */
  founded: string | null;
  /** Description of the company */
  summary: string | null;
  /** Address of the logo */
  logo: string | null;
  /** Street and number */
  street: string | null;
  /** Postcode */
  postcode: string | null;
  /** Place, `<city>, <region>, <country>` */
  locality: string | null;
  /** Latitude and longitude in degrees, separated by a comma */
  locationGeo: string | null;
  /** Id of the city */
  cityId: number | null;
  /** City, with its region and country */
  cities: City | null;
  /** Id of the region */
  regionId: number | null;
  /** Region, with its name */
  regions: Reference | null;
  /** Id of the country */
  countryId: number | null;
  /** Country, with its name */
  countries: Reference | null;
  /** Further domains */
  domains: string[];
  /** Further names */
  aliases: string[];
  /** Former names */
  formerNames: string[];
  /** Codes of the standard industrial classification (SIC) */
  sicCodes: string[];
  /** State in the words of the register, `Dissolved` when it ended */
  status: string | null;
}

export interface ChosenCompany {
  /** Id of the company */
  id?: number | undefined;
  /** Time at which the record was created, without a zone */
  createdAt?: string | undefined;
  /** Time of the last change, without a zone */
  whenUpdated?: string | undefined;
  /** Name of the company */
  name?: string | undefined;
  /** Main domain */
  domain?: string | null | undefined;
  /** Address of the website */
  website?: string | null | undefined;
  /** Handle of the company’s professional profile */
  professional_network?: string | null | undefined;
  /** Number in the company register */
  registryNumber?: string | null | undefined;
  /** Country of the register, two letters */
  registryCountry?: string | null | undefined;
  /** Phone number in E.164 form, with a plus */
  phone?: string | null | undefined;
  /** Email address */
  email?: string | null | undefined;
  /** Microblog handle */
  twitter?: string | null | undefined;
  /** Id of the industry */
  industryId?: number | null | undefined;
  /** Industry, with its name */
  industries?: Reference | null | undefined;
  /** Range of employees, such as `50-249` */
  headCount?: string | null | undefined;
  /** Number of employees */
  employees?: number | null | undefined;
  /** Year or date of foundation */
  founded?: string | null | undefined;
  /** Description of the company */
  summary?: string | null | undefined;
  /** Address of the logo */
  logo?: string | null | undefined;
  /** Street and number */
  street?: string | null | undefined;
  /** Postcode */
  postcode?: string | null | undefined;
  /** Place, `<city>, <region>, <country>` */
  locality?: string | null | undefined;
  /** Latitude and longitude in degrees, separated by a comma */
  locationGeo?: string | null | undefined;
  /** Id of the city */
  cityId?: number | null | undefined;
  /** City, with its region and country */
  cities?: City | null | undefined;
  /** Id of the region */
  regionId?: number | null | undefined;
  /** Region, with its name */
  regions?: Reference | null | undefined;
  /** Id of the country */
  countryId?: number | null | undefined;
  /** Country, with its name */
  countries?: Reference | null | undefined;
  /** Further domains */
  domains?: string[] | undefined;
  /** Further names */
  aliases?: string[] | undefined;
  /** Former names */
  formerNames?: string[] | undefined;
  /** Codes of the standard industrial classification (SIC) */
  sicCodes?: string[] | undefined;
  /** State in the words of the register, `Dissolved` when it ended */
  status?: string | null | undefined;
  'industries.id'?: number | null | undefined;
  'industries.name'?: string | null | undefined;
  'countries.id'?: number | null | undefined;
  'countries.name'?: string | null | undefined;
  'regions.id'?: number | null | undefined;
  'regions.name'?: string | null | undefined;
  'cities.id'?: number | null | undefined;
  'cities.name'?: string | null | undefined;
  'cities.countryId'?: number | null | undefined;
  'cities.countries.id'?: number | null | undefined;
  'cities.countries.name'?: string | null | undefined;
  'cities.regionId'?: number | null | undefined;
  'cities.regions.id'?: number | null | undefined;
  'cities.regions.name'?: string | null | undefined;
  'cities.createdAt'?: string | null | undefined;
  city?: string | null | undefined;
  region?: string | null | undefined;
  country?: string | null | undefined;
  industry?: string | null | undefined;
}

export interface Batch {
  id: string;
  /** Raised by every change. Of two responses or events, the one with the higher revision is the newer one. */
  revision: number;
  name: string;
  live: boolean;
  state: string;
  /** Why it is paused. After `insufficient_credits` and `key_budget` it resumes automatically when credits are available again, after `max_credits` (lists only) when its limit is raised, after `user` only when it is resumed. `expired`: it was held or paused for too long and was cancelled. `rows_per_minute`: it is queued or running, and its key has used up its rows of the minute. */
  reason: 'insufficient_credits' | 'key_budget' | 'max_credits' | 'user' | 'expired' | 'rows_per_minute' | null;
  error: Record<string, unknown> | null;
  operation: string;
  mapping: Record<string, unknown>;
  /** The key that created it, also through a session. */
  key_id: string;
  /** The list whose rows this one reruns, with their row numbers. */
  rerun_of: string | null;
  dialect: {
    encoding: string;
    delimiter: string;
    newline: string;
    /** The row of the header, from 1 as a spreadsheet counts; 0 without one. */
    header_row: number;
    /** The texts of the rows above the header. They are not rows of the list, nor of its result. */
    titles: string[];
    /** Null without a header. Header, titles and sheets of more than 2,000 bytes are left out of pages, and deleted with the files; a `mapping` as long is then empty. */
    header: string[] | null;
    /** The sheet that was read, for a workbook. */
    sheet: string | null;
    /** All visible sheets of the workbook. */
    sheets: string[];
    /** Guesses to check in the preview. `names`: in most of the first rows the columns of given and family name hold each other’s names. */
    doubts: ('encoding' | 'delimiter' | 'header' | 'sheet' | 'names')[];
  };
  /** How rows are matched. */
  match: 'exact' | 'likely';
  /** The probability that a likely match needs. */
  min_probability: number;
  /** Why the result cannot be downloaded as a workbook, as far as the uploaded rows show. CSV and JSON lines hold everything. */
  not_as_xlsx: string | null;
  quote: {
    state: 'running' | 'done';
    asked_at: string;
    /** Rows of each outcome; `invalid` alone where fewer than ten match. */
    rows?: Record<string, number> | undefined;
    /** Of the matched rows, those that cost nothing because the account has paid for the person in its last `owned_days`; 0 where fewer than ten match. */
    owned?: number | undefined;
    /** The price of the whole list; `max_credits` does not lower it. */
    credits?: number | undefined;
    /** `at_most` where fewer than ten rows match, perhaps none. */
    credits_is?: 'exact' | 'at_most' | undefined;
    affordable?: boolean | undefined;
  } | null;
  rows: {
    total: number | null;
    processed: number;
    matched: number;
    no_match: number;
    ambiguous: number;
    invalid: number;
    suppressed: number;
    duplicate: number;
    error: number;
    not_processed: number;
  };
  /** Of the matched rows, those that cost nothing because the account had paid for the person in its last `owned_days`. */
  owned: number;
  credits: {
    charged: number;
    reserved: number;
    max: number | null;
  };
  /** While it runs, of the last half minute of work; afterwards, of all the time in which it ran, without pauses. */
  rows_per_second: number | null;
  /** Seconds until its end at that pace, or at the rows per minute of its key when they hold it back. */
  eta_seconds: number | null;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  files_deleted_at: string | null;
  links: Record<string, string>;
}

export interface CreatedExport {
  id: string;
  /** Raised by every change. Of two responses or events, the one with the higher revision is the newer one. */
  revision: number;
  name: string;
  live: boolean;
  state: string;
  /** Why it is paused. After `insufficient_credits` and `key_budget` it resumes automatically when credits are available again, after `max_credits` (lists only) when its limit is raised, after `user` only when it is resumed. `expired`: it was held or paused for too long and was cancelled. `rows_per_minute`: it is queued or running, and its key has used up its rows of the minute. */
  reason: 'insufficient_credits' | 'key_budget' | 'max_credits' | 'user' | 'expired' | 'rows_per_minute' | null;
  error: Record<string, unknown> | null;
  operation: string;
  /** Null where it is longer than 2,000 bytes: in a page, and when the files are deleted. */
  filter: string | null;
  fields: string[] | null;
  format: string;
  gzip: boolean;
  max_results: number | null;
  schedule_id: string | null;
  /** How to read `rows.total` and `estimated_credits`: `exact` from the first charged person on, and at the end for a file of people who cost nothing. Null as long as those two are null: before the people are recorded, and for a filter that identifies people, until then. */
  total_is: 'exact' | 'about' | 'below' | null;
  /** How many of the people the account had paid for in its last `owned_days` when they were recorded: they cost nothing. */
  estimated_owned: number | null;
  estimated_credits: number | null;
  rows: {
    total: number | null;
    processed: number;
    matched: number;
    no_match: number;
    ambiguous: number;
    invalid: number;
    suppressed: number;
    duplicate: number;
    error: number;
    not_processed: number;
  };
  /** Of the matched rows, those that cost nothing because the account had paid for the person in its last `owned_days`. */
  owned: number;
  credits: {
    charged: number;
    reserved: number;
    max: number | null;
  };
  /** While it runs, of the last half minute of work; afterwards, of all the time in which it ran, without pauses. */
  rows_per_second: number | null;
  /** Seconds until its end at that pace, or at the rows per minute of its key when they hold it back. */
  eta_seconds: number | null;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  files_deleted_at: string | null;
  links: Record<string, string>;
  /** Places, industries and job titles of the filter that no lookup knows: misspelt, or had by fewer than ten people. At most 100. */
  unknown_values: {
    parameter: string;
    value: string;
  }[];
}

export interface Export {
  id: string;
  /** Raised by every change. Of two responses or events, the one with the higher revision is the newer one. */
  revision: number;
  name: string;
  live: boolean;
  state: string;
  /** Why it is paused. After `insufficient_credits` and `key_budget` it resumes automatically when credits are available again, after `max_credits` (lists only) when its limit is raised, after `user` only when it is resumed. `expired`: it was held or paused for too long and was cancelled. `rows_per_minute`: it is queued or running, and its key has used up its rows of the minute. */
  reason: 'insufficient_credits' | 'key_budget' | 'max_credits' | 'user' | 'expired' | 'rows_per_minute' | null;
  error: Record<string, unknown> | null;
  operation: string;
  /** Null where it is longer than 2,000 bytes: in a page, and when the files are deleted. */
  filter: string | null;
  fields: string[] | null;
  format: string;
  gzip: boolean;
  max_results: number | null;
  schedule_id: string | null;
  /** How to read `rows.total` and `estimated_credits`: `exact` from the first charged person on, and at the end for a file of people who cost nothing. Null as long as those two are null: before the people are recorded, and for a filter that identifies people, until then. */
  total_is: 'exact' | 'about' | 'below' | null;
  /** How many of the people the account had paid for in its last `owned_days` when they were recorded: they cost nothing. */
  estimated_owned: number | null;
  estimated_credits: number | null;
  rows: {
    total: number | null;
    processed: number;
    matched: number;
    no_match: number;
    ambiguous: number;
    invalid: number;
    suppressed: number;
    duplicate: number;
    error: number;
    not_processed: number;
  };
  /** Of the matched rows, those that cost nothing because the account had paid for the person in its last `owned_days`. */
  owned: number;
  credits: {
    charged: number;
    reserved: number;
    max: number | null;
  };
  /** While it runs, of the last half minute of work; afterwards, of all the time in which it ran, without pauses. */
  rows_per_second: number | null;
  /** Seconds until its end at that pace, or at the rows per minute of its key when they hold it back. */
  eta_seconds: number | null;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  files_deleted_at: string | null;
  links: Record<string, string>;
}

export interface SavedSchedule {
  id: string;
  name: string;
  live: boolean;
  cron: string;
  time_zone: string;
  filter: string;
  fields: string[] | null;
  format: string;
  mode: 'all' | 'new';
  max_results: number | null;
  max_credits: number | null;
  enabled: boolean;
  next_run_at: string | null;
  created_at: string;
  links: Record<string, string>;
  /** Places, industries and job titles of the filter that no lookup knows: misspelt, or had by fewer than ten people. At most 100. */
  unknown_values: {
    parameter: string;
    value: string;
  }[];
}

export interface Schedule {
  id: string;
  name: string;
  live: boolean;
  cron: string;
  time_zone: string;
  filter: string;
  fields: string[] | null;
  format: string;
  mode: 'all' | 'new';
  max_results: number | null;
  max_credits: number | null;
  enabled: boolean;
  next_run_at: string | null;
  created_at: string;
  links: Record<string, string>;
}

export interface Key {
  id: string;
  prefix: string;
  name: string | null;
  mode: 'live' | 'test';
  scopes: string[];
  requests_per_minute: number;
  requests_per_day: number;
  rows_per_minute: number | null;
  credits_per_day: number | null;
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  /** Time of its last call, accurate to five minutes; null before the first. */
  last_used_at: string | null;
  /** Requests of this UTC day, as `requests_per_day` counts them: those of a rotated key and of the one before together. With Redis, requests that a process has reserved count too. */
  requests_today: number;
}

export interface NamedMapping {
  id: string;
  name: string;
  operation: string;
  /** Names of columns by kind. */
  columns: Record<string, string[]>;
  created_at: string;
}

export interface SavedSearch {
  id: string;
  name: string;
  /** A query string, as it was saved. */
  filter: string;
  created_at: string;
}

export interface Webhook {
  id: string;
  url: string;
  live: boolean;
  events: ('batch.completed' | 'batch.failed' | 'batch.cancelled' | 'batch.paused' | 'export.completed' | 'export.failed' | 'export.cancelled' | 'export.paused' | 'schedule.skipped' | 'schedule.failed' | 'credits.low' | 'credits.empty' | 'key.revoked')[];
  credits_low_threshold: number;
  enabled: boolean;
  /** Why the service disabled it; null when it did not. */
  disabled_reason: 'gone' | 'failing' | null;
  failing_since: string | null;
  previous_secret_until: string | null;
  created_at: string;
  links: Record<string, string>;
}

export interface WebhookDelivery {
  id: string;
  /** The header webhook-id. */
  event_id: string;
  type: string;
  state: 'pending' | 'delivered' | 'failed';
  attempts: number;
  next_attempt_at: string | null;
  attempted_at: string | null;
  response_status: number | null;
  error: string | null;
  duration_ms: number | null;
  created_at: string;
  delivered_at: string | null;
  payload: {
    id: string;
    type: string;
    timestamp: string;
    live: boolean;
    data: Record<string, unknown>;
  };
}

export interface ImportRun {
  id: string;
  kind: 'import' | 'undo';
  state: 'receiving' | 'examining' | 'ready' | 'counting' | 'importing' | 'undoing' | 'done' | 'failed' | 'cancelled';
  files: {
    name: string;
    bytes: number;
  }[];
  options: {
    source: string | null;
    mapping: ImportMapping | null;
    as_of: string | null;
    allow_gone: boolean;
  };
  found: {
    source: string;
    as_of: string;
    snapshot: boolean;
    mapping: ImportMapping | null;
    mapping_origin: 'guessed' | 'kept' | 'several' | 'given' | 'replacing' | null;
    fitting?: ImportMapping[] | undefined;
    columns: {
      name: string;
      samples: string[];
    }[];
    preview: {
      line: number;
      entity: 'company' | 'person' | 'officer' | 'financial' | null;
      key: string | null;
      record: Record<string, unknown> | null;
      reason: string | null;
    }[];
  } | null;
  counts: {
    rows: number;
    new: number;
    changed: number;
    same: number;
    gone: number;
    merged: number;
    rejected: number;
    suppressed: number;
  } | null;
  reasons: Record<string, number> | null;
  import_id: number | null;
  progress: {
    step: 'waiting' | 'reading' | 'building';
    count: number;
  } | null;
  problem: {
    code: string;
    status: number;
    detail: string;
  } | null;
  /** Changes with the files, the options and what was found in them. */
  revision: string;
  created_at: string;
  finished_at: string | null;
  links: {
    self: string;
  };
}

export interface ImportMapping {
  name: string;
  of: 'persons' | 'companies';
  columns: Record<string, string[]>;
  country?: string | undefined;
}

export interface Import {
  id: number;
  source: string;
  files: string[];
  as_of: string;
  state: 'running' | 'done' | 'undoing' | 'undone';
  /** Why its records are not built yet: the last failure, which is repeated. Null without one. */
  problem: string | null;
  started_at: string;
  rows: number;
  new: number;
  changed: number;
  same: number;
  gone: number;
  merged: number;
  rejected: number;
  suppressed: number;
  /** The run of this account that made it, which has its rejected rows (`/admin/import-runs/{id}/rejects`); null for an import by the command line or another account, or once the run is deleted. */
  run_id: string | null;
}

export interface ShownImport {
  id: number;
  source: string;
  files: string[];
  as_of: string;
  state: 'running' | 'done' | 'undoing' | 'undone';
  /** Why its records are not built yet: the last failure, which is repeated. Null without one. */
  problem: string | null;
  started_at: string;
  rows: number;
  new: number;
  changed: number;
  same: number;
  gone: number;
  merged: number;
  rejected: number;
  suppressed: number;
  /** The run of this account that made it, which has its rejected rows (`/admin/import-runs/{id}/rejects`); null for an import by the command line or another account, or once the run is deleted. */
  run_id: string | null;
  /** The consequences of undoing it; null once it is undone. */
  undo: {
    later: number[];
    restored: number;
    ended: number;
    /** Records of other imports that lose their company until it is imported again; null where more than 20,000 companies are gone. */
    without_company: number | null;
  } | null;
}

export interface Split {
  id: number;
  of: 'company' | 'person';
  from: number;
  records: number[];
  made_at: string;
  undone_at: string | null;
}

/** The request and responses of each call. */
export interface Calls {
  'GET /v1/people/enrich': {
    query: {
      /** Profile URL on the professional network, or the last part of it. */
      professional_network?: string | undefined;
      /** Email address of the person, at work or private. */
      email?: string | undefined;
      /** Phone number, in any usual form. */
      phone?: string | undefined;
      /** Handle on X, with or without `@`. */
      twitter?: string | undefined;
      /** The whole name; or first_name and last_name. */
      name?: string | undefined;
      /** Given name, for a likely match. */
      first_name?: string | undefined;
      /** Family name, for a likely match. */
      last_name?: string | undefined;
      /** Name of the employer, for a likely match. */
      company?: string | undefined;
      /** Job title, for a likely match. */
      title?: string | undefined;
      /** City, for a likely match. */
      city?: string | undefined;
      /** Country: two letters of ISO 3166-1, or its name. */
      country?: string | undefined;
      /** `exact`: by identifiers alone. `likely`: rows that no identifier matches also by name and company, title, city or country; names of companies by their place. */
      match?: 'exact' | 'likely' | undefined;
      /** The probability that a likely match needs, from 0.5 to 1. Default 0.95. */
      min_probability?: number | undefined;
      /** Country of phone numbers without a country code, as two letters such as `GB`. */
      default_region?: string | undefined;
      /** Names of the fields to return, such as `workEmail,company.name`; all without it. */
      fields?: string | undefined;
      /** Fields of the record. One in which any of them is unknown does not match, and costs nothing. */
      required?: string | undefined;
    };
    response: {
      data: Person | ChosenPerson;
      match: {
        by: string;
        conflict: boolean;
        /** For a likely match: the probability that it is right, from 0 to 1. */
        probability?: number | undefined;
        /** For a likely match: what supports it. */
        evidence?: string | undefined;
      };
      meta: {
        request_id: string;
        credits_charged: 0 | 1;
        live: boolean;
      };
    };
  };
  'GET /v1/people/enrich-with-company': {
    query: {
      /** Profile URL on the professional network, or the last part of it. */
      professional_network?: string | undefined;
      /** Email address of the person, at work or private. */
      email?: string | undefined;
      /** Phone number, in any usual form. */
      phone?: string | undefined;
      /** Handle on X, with or without `@`. */
      twitter?: string | undefined;
      /** The whole name; or first_name and last_name. */
      name?: string | undefined;
      /** Given name, for a likely match. */
      first_name?: string | undefined;
      /** Family name, for a likely match. */
      last_name?: string | undefined;
      /** Name of the employer, for a likely match. */
      company?: string | undefined;
      /** Job title, for a likely match. */
      title?: string | undefined;
      /** City, for a likely match. */
      city?: string | undefined;
      /** Country: two letters of ISO 3166-1, or its name. */
      country?: string | undefined;
      /** `exact`: by identifiers alone. `likely`: rows that no identifier matches also by name and company, title, city or country; names of companies by their place. */
      match?: 'exact' | 'likely' | undefined;
      /** The probability that a likely match needs, from 0.5 to 1. Default 0.95. */
      min_probability?: number | undefined;
      /** Country of phone numbers without a country code, as two letters such as `GB`. */
      default_region?: string | undefined;
      /** Names of the fields to return, such as `workEmail,company.name`; all without it. */
      fields?: string | undefined;
      /** Fields of the record. One in which any of them is unknown does not match, and costs nothing. */
      required?: string | undefined;
    };
    response: {
      data: {
        person: Person | ChosenPerson;
        company: Company | ChosenCompany | null;
      };
      match: {
        by: string;
        conflict: boolean;
        /** For a likely match: the probability that it is right, from 0 to 1. */
        probability?: number | undefined;
        /** For a likely match: what supports it. */
        evidence?: string | undefined;
      };
      meta: {
        request_id: string;
        credits_charged: 0 | 1;
        live: boolean;
      };
    };
  };
  'GET /v1/people/mobile': {
    query: {
      /** Profile URL on the professional network, or the last part of it. */
      professional_network?: string | undefined;
      /** Email address of the person, at work or private. */
      email?: string | undefined;
      /** The whole name; or first_name and last_name. */
      name?: string | undefined;
      /** Given name, for a likely match. */
      first_name?: string | undefined;
      /** Family name, for a likely match. */
      last_name?: string | undefined;
      /** Name of the employer, for a likely match. */
      company?: string | undefined;
      /** Job title, for a likely match. */
      title?: string | undefined;
      /** City, for a likely match. */
      city?: string | undefined;
      /** Country: two letters of ISO 3166-1, or its name. */
      country?: string | undefined;
      /** `exact`: by identifiers alone. `likely`: rows that no identifier matches also by name and company, title, city or country; names of companies by their place. */
      match?: 'exact' | 'likely' | undefined;
      /** The probability that a likely match needs, from 0.5 to 1. Default 0.95. */
      min_probability?: number | undefined;
      /** Names of the fields to return, such as `workEmail,company.name`; all without it. */
      fields?: string | undefined;
      /** Fields of the record. One in which any of them is unknown does not match, and costs nothing. */
      required?: string | undefined;
    };
    response: {
      data: {
        person_id: number;
        mobile: string;
      };
      match: {
        by: string;
        conflict: boolean;
        /** For a likely match: the probability that it is right, from 0 to 1. */
        probability?: number | undefined;
        /** For a likely match: what supports it. */
        evidence?: string | undefined;
      };
      meta: {
        request_id: string;
        credits_charged: 0 | 8;
        live: boolean;
      };
    };
  };
  'GET /v1/people/email/verify': {
    query: {
      /** Email address of the person, at work or private. */
      email?: string | undefined;
      /** The whole name; or first_name and last_name. */
      name?: string | undefined;
      /** Given name, for a likely match. */
      first_name?: string | undefined;
      /** Family name, for a likely match. */
      last_name?: string | undefined;
      /** Name of the employer, for a likely match. */
      company?: string | undefined;
      /** Job title, for a likely match. */
      title?: string | undefined;
      /** City, for a likely match. */
      city?: string | undefined;
      /** Country: two letters of ISO 3166-1, or its name. */
      country?: string | undefined;
      /** `exact`: by identifiers alone. `likely`: rows that no identifier matches also by name and company, title, city or country; names of companies by their place. */
      match?: 'exact' | 'likely' | undefined;
      /** The probability that a likely match needs, from 0.5 to 1. Default 0.95. */
      min_probability?: number | undefined;
      /** Names of the fields to return, such as `workEmail,company.name`; all without it. */
      fields?: string | undefined;
      /** Fields of the record. One in which any of them is unknown does not match, and costs nothing. */
      required?: string | undefined;
    };
    response: {
      data: {
        email: string;
        status: 'valid' | 'invalid' | 'catch_all' | 'unknown';
        verified_at: string | null;
        person_id: number;
      };
      match: {
        by: string;
        conflict: boolean;
        /** For a likely match: the probability that it is right, from 0 to 1. */
        probability?: number | undefined;
        /** For a likely match: what supports it. */
        evidence?: string | undefined;
      };
      meta: {
        request_id: string;
        credits_charged: 0 | 1;
        live: boolean;
      };
    };
  };
  'GET /v1/companies/enrich': {
    query: {
      /** Number of the company in its register; `country` names the register. */
      registry_number?: string | undefined;
      /** Domain, website or email address of the company. */
      domain?: string | undefined;
      /** Profile URL on the professional network, or the last part of it. */
      professional_network?: string | undefined;
      /** Phone number, in any usual form. */
      phone?: string | undefined;
      /** In a look-up, the name of the company; elsewhere, the name of what is created. */
      name?: string | undefined;
      /** City, for a likely match. */
      city?: string | undefined;
      /** Country: two letters of ISO 3166-1, or its name. */
      country?: string | undefined;
      /** `exact`: by identifiers alone. `likely`: rows that no identifier matches also by name and company, title, city or country; names of companies by their place. */
      match?: 'exact' | 'likely' | undefined;
      /** The probability that a likely match needs, from 0.5 to 1. Default 0.95. */
      min_probability?: number | undefined;
      /** Country of phone numbers without a country code, as two letters such as `GB`. */
      default_region?: string | undefined;
      /** Names of the fields to return, such as `workEmail,company.name`; all without it. */
      fields?: string | undefined;
      /** Fields of the record. One in which any of them is unknown does not match, and costs nothing. */
      required?: string | undefined;
    };
    response: {
      data: {
        /** Id of the company */
        id: number;
        /** Time at which the record was created, without a zone */
        createdAt: string;
        /** Time of the last change, without a zone */
        whenUpdated: string;
        /** Name of the company */
        name: string;
        /** Main domain */
        domain: string | null;
        /** Address of the website */
        website: string | null;
        /** Handle of the company’s professional profile */
        professional_network: string | null;
        /** Number in the company register */
        registryNumber: string | null;
        /** Country of the register, two letters */
        registryCountry: string | null;
        /** Phone number in E.164 form, with a plus */
        phone: string | null;
        /** Email address */
        email: string | null;
        /** Microblog handle */
        twitter: string | null;
        /** Id of the industry */
        industryId: number | null;
        /** Industry, with its name */
        industries: Reference | null;
        /** Range of employees, such as `50-249` */
        headCount: string | null;
        /** Number of employees */
        employees: number | null;
        /** Year or date of foundation */
        founded: string | null;
        /** Description of the company */
        summary: string | null;
        /** Address of the logo */
        logo: string | null;
        /** Street and number */
        street: string | null;
        /** Postcode */
        postcode: string | null;
        /** Place, `<city>, <region>, <country>` */
        locality: string | null;
        /** Latitude and longitude in degrees, separated by a comma */
        locationGeo: string | null;
        /** Id of the city */
        cityId: number | null;
        /** City, with its region and country */
        cities: City | null;
        /** Id of the region */
        regionId: number | null;
        /** Region, with its name */
        regions: Reference | null;
        /** Id of the country */
        countryId: number | null;
        /** Country, with its name */
        countries: Reference | null;
        /** Further domains */
        domains: string[];
        /** Further names */
        aliases: string[];
        /** Former names */
        formerNames: string[];
        /** Codes of the standard industrial classification (SIC) */
        sicCodes: string[];
        /** State in the words of the register, `Dissolved` when it ended */
        status: string | null;
        directors?: {
          name: string | null;
          role: string;
          appointed_on: string | null;
          resigned_on: string | null;
          person_id: number | null;
          matched_by: 'link' | 'name_and_birth' | null;
        }[] | undefined;
      } | ChosenCompany;
      match: {
        by: string;
        conflict: boolean;
        /** For a likely match: the probability that it is right, from 0 to 1. */
        probability?: number | undefined;
        /** For a likely match: what supports it. */
        evidence?: string | undefined;
      };
      meta: {
        request_id: string;
        credits_charged: 0 | 1;
        live: boolean;
      };
    };
  };
  'GET /v1/companies/logo': {
    query: {
      /** Number of the company in its register; `country` names the register. */
      registry_number?: string | undefined;
      /** Domain, website or email address of the company. */
      domain?: string | undefined;
      /** Profile URL on the professional network, or the last part of it. */
      professional_network?: string | undefined;
      /** Phone number, in any usual form. */
      phone?: string | undefined;
      /** In a look-up, the name of the company; elsewhere, the name of what is created. */
      name?: string | undefined;
      /** City, for a likely match. */
      city?: string | undefined;
      /** Country: two letters of ISO 3166-1, or its name. */
      country?: string | undefined;
      /** `exact`: by identifiers alone. `likely`: rows that no identifier matches also by name and company, title, city or country; names of companies by their place. */
      match?: 'exact' | 'likely' | undefined;
      /** The probability that a likely match needs, from 0.5 to 1. Default 0.95. */
      min_probability?: number | undefined;
      /** Country of phone numbers without a country code, as two letters such as `GB`. */
      default_region?: string | undefined;
      /** Names of the fields to return, such as `workEmail,company.name`; all without it. */
      fields?: string | undefined;
      /** Fields of the record. One in which any of them is unknown does not match, and costs nothing. */
      required?: string | undefined;
    };
    response: {
      data: {
        company_id: number;
        logo_url: string;
      };
      match: {
        by: string;
        conflict: boolean;
        /** For a likely match: the probability that it is right, from 0 to 1. */
        probability?: number | undefined;
        /** For a likely match: what supports it. */
        evidence?: string | undefined;
      };
      meta: {
        request_id: string;
        credits_charged: 0 | 1;
        live: boolean;
      };
    };
  };
  'GET /v1/companies/financials': {
    query: {
      /** Number of the company in its register; `country` names the register. */
      registry_number?: string | undefined;
      /** Domain, website or email address of the company. */
      domain?: string | undefined;
      /** Profile URL on the professional network, or the last part of it. */
      professional_network?: string | undefined;
      /** Phone number, in any usual form. */
      phone?: string | undefined;
      /** In a look-up, the name of the company; elsewhere, the name of what is created. */
      name?: string | undefined;
      /** City, for a likely match. */
      city?: string | undefined;
      /** Country: two letters of ISO 3166-1, or its name. */
      country?: string | undefined;
      /** `exact`: by identifiers alone. `likely`: rows that no identifier matches also by name and company, title, city or country; names of companies by their place. */
      match?: 'exact' | 'likely' | undefined;
      /** The probability that a likely match needs, from 0.5 to 1. Default 0.95. */
      min_probability?: number | undefined;
      /** Country of phone numbers without a country code, as two letters such as `GB`. */
      default_region?: string | undefined;
      /** Names of the fields to return, such as `workEmail,company.name`; all without it. */
      fields?: string | undefined;
      /** Fields of the record. One in which any of them is unknown does not match, and costs nothing. */
      required?: string | undefined;
    };
    response: {
      data: {
        company_id: number;
        currency: string | null;
        periods: {
          period_end: string;
          currency: string;
          revenue: number | null;
          gross_profit: number | null;
          operating_profit: number | null;
          profit: number | null;
          total_assets: number | null;
          net_assets: number | null;
          cash: number | null;
          employees: number | null;
        }[];
      };
      match: {
        by: string;
        conflict: boolean;
        /** For a likely match: the probability that it is right, from 0 to 1. */
        probability?: number | undefined;
        /** For a likely match: what supports it. */
        evidence?: string | undefined;
      };
      meta: {
        request_id: string;
        credits_charged: 0 | 1;
        live: boolean;
      };
    };
  };
  'GET /v1/lookups/job-titles': {
    query: {
      /** Text to look for. */
      q?: string | undefined;
      /** Instead of `q`: ids such as `12,15`, to get their names */
      ids?: string | undefined;
      /** Maximum number of items in the response. */
      limit?: number | undefined;
    };
    response: {
      data: {
        type: 'position' | 'city' | 'industry' | 'region' | 'country' | 'title';
        /** Id of the position, city, industry, region or country; null for a title. */
        id: number | null;
        name: string;
        /** About how many people have it, as in a preview; 0 for fewer than ten. */
        count: number;
        /** The filter of a search that finds them. */
        filter: string;
      }[];
    };
  };
  'GET /v1/lookups/locations': {
    query: {
      /** Text to look for. */
      q?: string | undefined;
      /** Instead of `q`: ids such as `12,15`, to get their names */
      ids?: string | undefined;
      /** Maximum number of items in the response. */
      limit?: number | undefined;
    };
    response: {
      data: {
        type: 'position' | 'city' | 'industry' | 'region' | 'country' | 'title';
        /** Id of the position, city, industry, region or country; null for a title. */
        id: number | null;
        name: string;
        /** About how many people have it, as in a preview; 0 for fewer than ten. */
        count: number;
        /** The filter of a search that finds them. */
        filter: string;
      }[];
    };
  };
  'GET /v1/lookups/industries': {
    query: {
      /** Text to look for. */
      q?: string | undefined;
      /** Instead of `q`: ids such as `12,15`, to get their names */
      ids?: string | undefined;
      /** Maximum number of items in the response. */
      limit?: number | undefined;
    };
    response: {
      data: {
        type: 'position' | 'city' | 'industry' | 'region' | 'country' | 'title';
        /** Id of the position, city, industry, region or country; null for a title. */
        id: number | null;
        name: string;
        /** About how many people have it, as in a preview; 0 for fewer than ten. */
        count: number;
        /** The filter of a search that finds them. */
        filter: string;
      }[];
    };
  };
  'GET /v1/lookups/companies': {
    query: {
      /** Text to look for. */
      q?: string | undefined;
      /** Instead of `q`: ids such as `12,15`, to get their names */
      ids?: string | undefined;
      /** Maximum number of items in the response. */
      limit?: number | undefined;
    };
    response: {
      data: {
        type: "company";
        id: number;
        name: string;
        /** About how many people work there, as in a preview; 0 for fewer than ten. */
        count: number;
        /** The filter of a search that finds them. */
        filter: string;
      }[];
    };
  };
  'GET /personsearch/preview': {
    query: {
      /** Cities, `[1|2]` or `[1,2]`; ids of /v1/lookups/locations */
      locationIds?: string | undefined;
      /** Industries; ids of /v1/lookups/industries */
      industryIds?: string | undefined;
      /** Positions; ids of /v1/lookups/job-titles */
      positionIds?: string | undefined;
      /** Has an email: 1 work, 2 private */
      emailTypeId?: string | undefined;
      /** Has a number: 1 mobile, 2 telephone */
      phoneTypeId?: string | undefined;
      /** Places, `[London:GB|:France]` */
      locationList?: string | undefined;
      /** Names of industries, `[Oil & Gas|Retail]` */
      industryList?: string | undefined;
      /** Names of positions, `[Engineer|CEO]` */
      positionList?: string | undefined;
      /** 1: has a social_a id */
      isFB?: string | undefined;
      /** 1: has a microblog handle */
      isX?: string | undefined;
      /** Ranges that the company is in, `[50-249|1,000-]` */
      headCount?: string | undefined;
      /** Ranges of years of age, `[25-34|60-]` */
      ageRange?: string | undefined;
      /** 1 or male, 2 or female */
      gender?: string | undefined;
      /** Years, `[3|5-9]` */
      experience?: string | undefined;
      /** Ranges that overlap, `[45,000-55,000]` */
      salary?: string | undefined;
      /** All of these skills, `[SQL|C++]` */
      skills?: string | undefined;
      /** Current companies, `[1|2]` */
      companyId?: string | undefined;
      /** Leaves out the people of `companyId` */
      'not.companyId'?: string | undefined;
      /** Leaves out the people of `positionIds` */
      'not.positionIds'?: string | undefined;
      /** Leaves out the people of `positionList` */
      'not.positionList'?: string | undefined;
      /** Leaves out the people of `position.text` */
      'not.position.text'?: string | undefined;
      /** Leaves out the people of `industryIds` */
      'not.industryIds'?: string | undefined;
      /** Leaves out the people of `industryList` */
      'not.industryList'?: string | undefined;
      /** Leaves out the people of `locationIds` */
      'not.locationIds'?: string | undefined;
      /** Leaves out the people of `locationList` */
      'not.locationList'?: string | undefined;
      /** Leaves out the people of `headCount` */
      'not.headCount'?: string | undefined;
      /** Leaves out the people of `skills` */
      'not.skills'?: string | undefined;
      /** 1: leaves out people whom the account has paid for in its `owned_days` */
      'not.owned'?: string | undefined;
    };
    response: {
      total: number;
      /** `exact`: that many. `about`: rounded to two digits, and never finer than tens. `below`: fewer than `total`, perhaps none. */
      total_is: 'exact' | 'about' | 'below';
      /** How many of the people the account has paid for in its last `owned_days`: they cost nothing. */
      owned: number;
      estimated_credits: number;
      /** By field, about how many of the people have it; empty where `total_is` is `below`. */
      fields: Record<string, number>;
      /** Places, industries and job titles of the filter that no lookup knows: misspelt, or had by fewer than ten people. At most 100. */
      unknown_values: {
        parameter: string;
        value: string;
      }[];
    };
  };
  'GET /v1/personsearch/preview': {
    query: {
      /** Cities, `[1|2]` or `[1,2]`; ids of /v1/lookups/locations */
      locationIds?: string | undefined;
      /** Industries; ids of /v1/lookups/industries */
      industryIds?: string | undefined;
      /** Positions; ids of /v1/lookups/job-titles */
      positionIds?: string | undefined;
      /** Has an email: 1 work, 2 private */
      emailTypeId?: string | undefined;
      /** Has a number: 1 mobile, 2 telephone */
      phoneTypeId?: string | undefined;
      /** Places, `[London:GB|:France]` */
      locationList?: string | undefined;
      /** Names of industries, `[Oil & Gas|Retail]` */
      industryList?: string | undefined;
      /** Names of positions, `[Engineer|CEO]` */
      positionList?: string | undefined;
      /** 1: has a social_a id */
      isFB?: string | undefined;
      /** 1: has a microblog handle */
      isX?: string | undefined;
      /** Ranges that the company is in, `[50-249|1,000-]` */
      headCount?: string | undefined;
      /** Ranges of years of age, `[25-34|60-]` */
      ageRange?: string | undefined;
      /** 1 or male, 2 or female */
      gender?: string | undefined;
      /** Years, `[3|5-9]` */
      experience?: string | undefined;
      /** Ranges that overlap, `[45,000-55,000]` */
      salary?: string | undefined;
      /** All of these skills, `[SQL|C++]` */
      skills?: string | undefined;
      /** Current companies, `[1|2]` */
      companyId?: string | undefined;
      /** Leaves out the people of `companyId` */
      'not.companyId'?: string | undefined;
      /** Leaves out the people of `positionIds` */
      'not.positionIds'?: string | undefined;
      /** Leaves out the people of `positionList` */
      'not.positionList'?: string | undefined;
      /** Leaves out the people of `position.text` */
      'not.position.text'?: string | undefined;
      /** Leaves out the people of `industryIds` */
      'not.industryIds'?: string | undefined;
      /** Leaves out the people of `industryList` */
      'not.industryList'?: string | undefined;
      /** Leaves out the people of `locationIds` */
      'not.locationIds'?: string | undefined;
      /** Leaves out the people of `locationList` */
      'not.locationList'?: string | undefined;
      /** Leaves out the people of `headCount` */
      'not.headCount'?: string | undefined;
      /** Leaves out the people of `skills` */
      'not.skills'?: string | undefined;
      /** 1: leaves out people whom the account has paid for in its `owned_days` */
      'not.owned'?: string | undefined;
    };
    response: {
      total: number;
      /** `exact`: that many. `about`: rounded to two digits, and never finer than tens. `below`: fewer than `total`, perhaps none. */
      total_is: 'exact' | 'about' | 'below';
      /** How many of the people the account has paid for in its last `owned_days`: they cost nothing. */
      owned: number;
      estimated_credits: number;
      /** By field, about how many of the people have it; empty where `total_is` is `below`. */
      fields: Record<string, number>;
      /** Places, industries and job titles of the filter that no lookup knows: misspelt, or had by fewer than ten people. At most 100. */
      unknown_values: {
        parameter: string;
        value: string;
      }[];
    };
  };
  'GET /v1/personsearch/breakdown': {
    query: {
      /** Cities, `[1|2]` or `[1,2]`; ids of /v1/lookups/locations */
      locationIds?: string | undefined;
      /** Industries; ids of /v1/lookups/industries */
      industryIds?: string | undefined;
      /** Positions; ids of /v1/lookups/job-titles */
      positionIds?: string | undefined;
      /** Has an email: 1 work, 2 private */
      emailTypeId?: string | undefined;
      /** Has a number: 1 mobile, 2 telephone */
      phoneTypeId?: string | undefined;
      /** Places, `[London:GB|:France]` */
      locationList?: string | undefined;
      /** Names of industries, `[Oil & Gas|Retail]` */
      industryList?: string | undefined;
      /** Names of positions, `[Engineer|CEO]` */
      positionList?: string | undefined;
      /** 1: has a social_a id */
      isFB?: string | undefined;
      /** 1: has a microblog handle */
      isX?: string | undefined;
      /** Ranges that the company is in, `[50-249|1,000-]` */
      headCount?: string | undefined;
      /** Ranges of years of age, `[25-34|60-]` */
      ageRange?: string | undefined;
      /** 1 or male, 2 or female */
      gender?: string | undefined;
      /** Years, `[3|5-9]` */
      experience?: string | undefined;
      /** Ranges that overlap, `[45,000-55,000]` */
      salary?: string | undefined;
      /** All of these skills, `[SQL|C++]` */
      skills?: string | undefined;
      /** Current companies, `[1|2]` */
      companyId?: string | undefined;
      /** Leaves out the people of `companyId` */
      'not.companyId'?: string | undefined;
      /** Leaves out the people of `positionIds` */
      'not.positionIds'?: string | undefined;
      /** Leaves out the people of `positionList` */
      'not.positionList'?: string | undefined;
      /** Leaves out the people of `position.text` */
      'not.position.text'?: string | undefined;
      /** Leaves out the people of `industryIds` */
      'not.industryIds'?: string | undefined;
      /** Leaves out the people of `industryList` */
      'not.industryList'?: string | undefined;
      /** Leaves out the people of `locationIds` */
      'not.locationIds'?: string | undefined;
      /** Leaves out the people of `locationList` */
      'not.locationList'?: string | undefined;
      /** Leaves out the people of `headCount` */
      'not.headCount'?: string | undefined;
      /** Leaves out the people of `skills` */
      'not.skills'?: string | undefined;
      /** 1: leaves out people whom the account has paid for in its `owned_days` */
      'not.owned'?: string | undefined;
    };
    response: {
      countries: {
        /** Null when unknown. */
        name: string | null;
        people: number;
      }[];
      industries: {
        /** Null when unknown. */
        name: string | null;
        people: number;
      }[];
      company_sizes: {
        /** Null when unknown. */
        name: string | null;
        people: number;
      }[];
      /** The largest groups of people with the same title, company size and country, and about how many of each have a field. */
      rows: {
        title: string | null;
        company_size: string | null;
        country: string | null;
        people: number;
        fields: Record<string, number>;
      }[];
    };
  };
  'GET /personsearch/': {
    query: {
      /** Cities, `[1|2]` or `[1,2]`; ids of /v1/lookups/locations */
      locationIds?: string | undefined;
      /** Industries; ids of /v1/lookups/industries */
      industryIds?: string | undefined;
      /** Positions; ids of /v1/lookups/job-titles */
      positionIds?: string | undefined;
      /** Has an email: 1 work, 2 private */
      emailTypeId?: string | undefined;
      /** Has a number: 1 mobile, 2 telephone */
      phoneTypeId?: string | undefined;
      /** Places, `[London:GB|:France]` */
      locationList?: string | undefined;
      /** Names of industries, `[Oil & Gas|Retail]` */
      industryList?: string | undefined;
      /** Names of positions, `[Engineer|CEO]` */
      positionList?: string | undefined;
      /** 1: has a social_a id */
      isFB?: string | undefined;
      /** 1: has a microblog handle */
      isX?: string | undefined;
      /** Ranges that the company is in, `[50-249|1,000-]` */
      headCount?: string | undefined;
      /** Ranges of years of age, `[25-34|60-]` */
      ageRange?: string | undefined;
      /** 1 or male, 2 or female */
      gender?: string | undefined;
      /** Years, `[3|5-9]` */
      experience?: string | undefined;
      /** Ranges that overlap, `[45,000-55,000]` */
      salary?: string | undefined;
      /** All of these skills, `[SQL|C++]` */
      skills?: string | undefined;
      /** Current companies, `[1|2]` */
      companyId?: string | undefined;
      /** Leaves out the people of `companyId` */
      'not.companyId'?: string | undefined;
      /** Leaves out the people of `positionIds` */
      'not.positionIds'?: string | undefined;
      /** Leaves out the people of `positionList` */
      'not.positionList'?: string | undefined;
      /** Leaves out the people of `position.text` */
      'not.position.text'?: string | undefined;
      /** Leaves out the people of `industryIds` */
      'not.industryIds'?: string | undefined;
      /** Leaves out the people of `industryList` */
      'not.industryList'?: string | undefined;
      /** Leaves out the people of `locationIds` */
      'not.locationIds'?: string | undefined;
      /** Leaves out the people of `locationList` */
      'not.locationList'?: string | undefined;
      /** Leaves out the people of `headCount` */
      'not.headCount'?: string | undefined;
      /** Leaves out the people of `skills` */
      'not.skills'?: string | undefined;
      /** 1: leaves out people whom the account has paid for in its `owned_days` */
      'not.owned'?: string | undefined;
      /** Maximum number of items in the response. */
      limit?: number | undefined;
      /** Number of items to skip at the start; `cursor` is faster. */
      skip?: number | undefined;
      /** `next_cursor` of the previous page, or the cursor in its `Link`; none for the first page. */
      cursor?: string | undefined;
      /** `id` (default), `whenUpdated`, `createdAt` or `surname`; `-whenUpdated` for the latest first */
      sort?: string | undefined;
      /** `false` leaves the total out, which is faster. */
      count?: 'true' | 'false' | undefined;
      /** `true`: if the credits do not pay for the whole page, as many people as they pay for. */
      partial?: 'true' | 'false' | undefined;
      /** Fields of each person, `name,company.name,city` */
      fields?: string | undefined;
    };
    response: (Person | ChosenPerson)[];
  };
  'GET /v1/personsearch': {
    query: {
      /** Cities, `[1|2]` or `[1,2]`; ids of /v1/lookups/locations */
      locationIds?: string | undefined;
      /** Industries; ids of /v1/lookups/industries */
      industryIds?: string | undefined;
      /** Positions; ids of /v1/lookups/job-titles */
      positionIds?: string | undefined;
      /** Has an email: 1 work, 2 private */
      emailTypeId?: string | undefined;
      /** Has a number: 1 mobile, 2 telephone */
      phoneTypeId?: string | undefined;
      /** Places, `[London:GB|:France]` */
      locationList?: string | undefined;
      /** Names of industries, `[Oil & Gas|Retail]` */
      industryList?: string | undefined;
      /** Names of positions, `[Engineer|CEO]` */
      positionList?: string | undefined;
      /** 1: has a social_a id */
      isFB?: string | undefined;
      /** 1: has a microblog handle */
      isX?: string | undefined;
      /** Ranges that the company is in, `[50-249|1,000-]` */
      headCount?: string | undefined;
      /** Ranges of years of age, `[25-34|60-]` */
      ageRange?: string | undefined;
      /** 1 or male, 2 or female */
      gender?: string | undefined;
      /** Years, `[3|5-9]` */
      experience?: string | undefined;
      /** Ranges that overlap, `[45,000-55,000]` */
      salary?: string | undefined;
      /** All of these skills, `[SQL|C++]` */
      skills?: string | undefined;
      /** Current companies, `[1|2]` */
      companyId?: string | undefined;
      /** Leaves out the people of `companyId` */
      'not.companyId'?: string | undefined;
      /** Leaves out the people of `positionIds` */
      'not.positionIds'?: string | undefined;
      /** Leaves out the people of `positionList` */
      'not.positionList'?: string | undefined;
      /** Leaves out the people of `position.text` */
      'not.position.text'?: string | undefined;
      /** Leaves out the people of `industryIds` */
      'not.industryIds'?: string | undefined;
      /** Leaves out the people of `industryList` */
      'not.industryList'?: string | undefined;
      /** Leaves out the people of `locationIds` */
      'not.locationIds'?: string | undefined;
      /** Leaves out the people of `locationList` */
      'not.locationList'?: string | undefined;
      /** Leaves out the people of `headCount` */
      'not.headCount'?: string | undefined;
      /** Leaves out the people of `skills` */
      'not.skills'?: string | undefined;
      /** 1: leaves out people whom the account has paid for in its `owned_days` */
      'not.owned'?: string | undefined;
      /** Maximum number of items in the response. */
      limit?: number | undefined;
      /** Number of items to skip at the start; `cursor` is faster. */
      skip?: number | undefined;
      /** `next_cursor` of the previous page, or the cursor in its `Link`; none for the first page. */
      cursor?: string | undefined;
      /** `id` (default), `whenUpdated`, `createdAt` or `surname`; `-whenUpdated` for the latest first */
      sort?: string | undefined;
      /** `false` leaves the total out, which is faster. */
      count?: 'true' | 'false' | undefined;
      /** `true`: if the credits do not pay for the whole page, as many people as they pay for. */
      partial?: 'true' | 'false' | undefined;
      /** Fields of each person, `name,company.name,city` */
      fields?: string | undefined;
    };
    response: (Person | ChosenPerson)[];
  };
  'POST /v1/do-not-contact': {
    body: {
      /** Email addresses. */
      emails?: string[] | undefined;
      /** Domains: all addresses of each. */
      domains?: string[] | undefined;
      /** SHA-256 hashes of email addresses in lower case, in hexadecimal. */
      email_sha256?: string[] | undefined;
    };
    response: {
      added: number;
    };
  };
  'GET /v1/do-not-contact': {
    query: {
      /** Maximum number of items in the response. */
      limit?: number | undefined;
      /** `next_cursor` of the previous page, or the cursor in its `Link`; none for the first page. */
      cursor?: string | undefined;
    };
    response: {
      data: {
        email_sha256: string | null;
        domain: string | null;
        created_at: string;
      }[];
      next_cursor: string | null;
    };
  };
  'DELETE /v1/do-not-contact': {
    body: {
      /** Email addresses. */
      emails?: string[] | undefined;
      /** Domains: all addresses of each. */
      domains?: string[] | undefined;
      /** SHA-256 hashes of email addresses in lower case, in hexadecimal. */
      email_sha256?: string[] | undefined;
    };
    response: {
      removed: number;
    };
  };
  'GET /v1/opt-outs': {
    query: {
      /** Maximum number of items in the response. */
      limit?: number | undefined;
      /** `next_cursor` of the previous page, or the cursor in its `Link`; none for the first page. */
      cursor?: string | undefined;
    };
    response: {
      data: {
        person_id: number;
        opted_out_at: string;
      }[];
      next_cursor: string;
    };
  };
  'GET /v1/me': {
    response: {
      key: {
        prefix: string;
        mode: 'live' | 'test';
        scopes: string[];
        created_at: string;
      };
      credits: {
        remaining: number;
        reserved: number;
      };
      /** Days for which a person who was paid for is not charged again; 0: every delivery is charged. */
      owned_days: number;
      storage: {
        /** Bytes of lists, results and exports, and of open uploads at `bytes_max` each. A list that has not ended counts with the maximum size of its result, an export with 11 bytes for each person of `max_results`. */
        stored_bytes: number;
        /** Maximum of `stored_bytes`. Beyond it new lists and exports are refused with `storage_full`; a list that may not fit fails when it is split. */
        stored_bytes_max: number;
      };
      rate_limits: {
        minute: {
          limit: number;
          remaining: number;
          reset_at: string;
        };
        day: {
          limit: number;
          remaining: number;
          reset_at: string;
        };
        rows: {
          limit: number | null;
        };
        credits_today: {
          remaining: number | null;
        };
      };
    };
  };
  'POST /v1/uploads': {
    response: Record<string, unknown>;
  };
  'POST /v1/batches': {
    query: {
      /** The operation to run on each row. */
      operation?: string | undefined;
      /** The column of each identifier, such as `{"email": "Work Email"}`; detected without it. */
      mapping?: string | undefined;
      /** In a look-up, the name of the company; elsewhere, the name of what is created. */
      name?: string | undefined;
      /** Names of the fields to return, such as `workEmail,company.name`; all without it. */
      fields?: string | undefined;
      /** Country of phone numbers without a country code, as two letters such as `GB`. */
      default_region?: string | undefined;
      /** Country: two letters of ISO 3166-1, or its name. */
      country?: string | undefined;
      /** Encoding of the file, such as `windows-1252`; detected without it. */
      encoding?: string | undefined;
      /** Character between cells: `,` `;` `|` or a tab; detected without it. */
      delimiter?: string | undefined;
      /** `true` is `header_row=1`, `false` is `header_row=0`. */
      header?: 'true' | 'false' | undefined;
      /** Number of the row with the column names, from 1 as a spreadsheet counts; rows above it are not part of the list. `0`: no header row. Detected when omitted. */
      header_row?: number | undefined;
      /** Name of the sheet of a workbook, or its number from 1; hidden sheets do not count. */
      sheet?: string | undefined;
      /** `true`: wait in the state `ready` for a quote and a start. */
      hold?: 'true' | 'false' | undefined;
      /** With `hold`: accepts a file without a column to match on. It cannot be quoted or started before a `mapping` names one. */
      allow_unmapped?: 'true' | 'false' | undefined;
      /** `true`: charge for each record once; its later rows are `duplicate`. */
      dedupe?: 'true' | 'false' | undefined;
      /** `exact`: by identifiers alone. `likely`: rows that no identifier matches also by name and company, title, city or country; names of companies by their place. */
      match?: 'exact' | 'likely' | undefined;
      /** The probability that a likely match needs, from 0.5 to 1. Default 0.95. */
      min_probability?: number | undefined;
      /** `true`: a match that disagrees with the name in the list is no match. */
      require_agreement?: 'true' | 'false' | undefined;
      /** Fields of the record. A row whose record lacks any of them is `no_match`, and costs nothing. */
      required?: string | undefined;
      /** Maximum credits to spend: a list pauses there, an export ends. */
      max_credits?: number | undefined;
    };
    body: {
      operation: string;
      rows: (Record<string, string | number | boolean | null>)[];
    } | {
      operation: string;
      upload_id: string;
    };
  };
  'GET /v1/batches': {
    query: {
      /** Only those whose name contains this text, ignoring case and accents. */
      search?: string | undefined;
      /** A minus reverses the order; newest first by default. */
      sort?: 'created_at' | '-created_at' | 'name' | '-name' | 'matched' | '-matched' | 'credits' | '-credits' | undefined;
      /** Only the reruns of this list. */
      rerun_of?: string | undefined;
      /** Maximum number of items in the response. */
      limit?: number | undefined;
      /** `next_cursor` of the previous page, or the cursor in its `Link`; none for the first page. */
      cursor?: string | undefined;
    };
    response: {
      data: Batch[];
      next_cursor: string | null;
    };
  };
  'POST /v1/exports': {
    body: {
      /** The search, as a query string of the filters of a person search. */
      filter: string;
      /** In a look-up, the name of the company; elsewhere, the name of what is created. */
      name?: string | undefined;
      /** Names of the fields to return, such as `workEmail,company.name`; all without it. */
      fields?: string[] | null | undefined;
      /** Format of the file. */
      format?: 'csv' | 'csv-safe' | 'jsonl' | 'xlsx' | undefined;
      /** Maximum number of people. */
      max_results?: number | null | undefined;
      /** Maximum credits to spend: a list pauses there, an export ends. */
      max_credits?: number | null | undefined;
      /** `true`: compress the file. */
      gzip?: boolean | undefined;
      /** `true`: wait in the state `ready` for a quote and a start. */
      hold?: boolean | undefined;
      /** Names of fields without which a record does not match. */
      required?: string[] | null | undefined;
    };
    response: CreatedExport;
  };
  'GET /v1/exports': {
    query: {
      /** Only those whose name contains this text, ignoring case and accents. */
      search?: string | undefined;
      /** A minus reverses the order; newest first by default. */
      sort?: 'created_at' | '-created_at' | 'name' | '-name' | 'matched' | '-matched' | 'credits' | '-credits' | undefined;
      /** Maximum number of items in the response. */
      limit?: number | undefined;
      /** `next_cursor` of the previous page, or the cursor in its `Link`; none for the first page. */
      cursor?: string | undefined;
    };
    response: {
      data: Export[];
      next_cursor: string | null;
    };
  };
  'GET /v1/batches/{id}': {
    response: Batch;
  };
  'PATCH /v1/batches/{id}': {
    body: {
      /** May be sent alone in every state. Downloads are named after it. */
      name?: string | undefined;
      /** The column of each identifier, such as `{"email": "Work Email"}`; detected without it. */
      mapping?: Record<string, string | number | (string | number)[]> | undefined;
      /** Names of the fields to return, such as `workEmail,company.name`; all without it. */
      fields?: string[] | null | undefined;
      /** Country of phone numbers without a country code, as two letters such as `GB`. */
      default_region?: string | null | undefined;
      /** Country: two letters of ISO 3166-1, or its name. */
      country?: string | null | undefined;
      /** May be sent alone in the states `ready`, `queued`, `running` and `paused`; not below the credits that are charged and reserved. A list that is paused at its `max_credits` resumes when they pay for one more match. */
      max_credits?: number | null | undefined;
      /** `true`: charge for each record once; its later rows are `duplicate`. */
      dedupe?: boolean | undefined;
      /** `exact`: by identifiers alone. `likely`: rows that no identifier matches also by name and company, title, city or country; names of companies by their place. */
      match?: 'exact' | 'likely' | undefined;
      /** The probability that a likely match needs, from 0.5 to 1. Default 0.95. */
      min_probability?: number | undefined;
      /** `true`: a match that disagrees with the name in the list is no match. */
      require_agreement?: boolean | undefined;
      /** Names of fields without which a record does not match. */
      required?: string[] | null | undefined;
      /** Encoding of the file, such as `windows-1252`; detected without it. */
      encoding?: string | undefined;
      /** Character between cells: `,` `;` `|` or a tab; detected without it. */
      delimiter?: string | undefined;
      /** Number of the row with the column names, from 1 as a spreadsheet counts; rows above it are not part of the list. `0`: no header row. Detected when omitted. */
      header_row?: number | undefined;
      /** Name of the sheet of a workbook, or its number from 1; hidden sheets do not count. */
      sheet?: string | undefined;
      /** For a list that is read again: hold it even without a column to match on, as `allow_unmapped` of the upload does. */
      allow_unmapped?: boolean | undefined;
    };
    response: Batch;
  };
  'DELETE /v1/batches/{id}': {
  };
  'GET /v1/exports/{id}': {
    response: Export;
  };
  'DELETE /v1/exports/{id}': {
  };
  'POST /v1/batches/{id}/start': {
    response: Batch;
  };
  'POST /v1/batches/{id}/pause': {
    response: Batch;
  };
  'POST /v1/batches/{id}/resume': {
    response: Batch;
  };
  'POST /v1/batches/{id}/cancel': {
    response: Batch;
  };
  'POST /v1/batches/{id}/quote': {
    response: Batch;
  };
  'POST /v1/exports/{id}/start': {
    response: Export;
  };
  'POST /v1/exports/{id}/pause': {
    response: Export;
  };
  'POST /v1/exports/{id}/resume': {
    response: Export;
  };
  'POST /v1/exports/{id}/cancel': {
    response: Export;
  };
  'GET /v1/batches/{id}/preview': {
    response: Record<string, unknown>;
  };
  'GET /v1/batches/{id}/results': {
    query: {
      /** Format of the file. */
      format?: 'csv' | 'csv-safe' | 'jsonl' | 'xlsx' | undefined;
      /** `true`: compress the file. */
      gzip?: 'true' | 'false' | undefined;
      /** Only the rows with these outcomes, such as `no_match,ambiguous`. */
      outcomes?: string | undefined;
      /** Only the rows that contain this text, ignoring case and accents. */
      search?: string | undefined;
      /** `true`: each row with its latest answer, from the list or its reruns. */
      reruns?: 'true' | 'false' | undefined;
    };
  };
  'GET /v1/exports/{id}/results': {
    query: {
      /** Format of the file. */
      format?: 'csv' | 'csv-safe' | 'jsonl' | 'xlsx' | undefined;
      /** `true`: compress the file. */
      gzip?: 'true' | 'false' | undefined;
    };
  };
  'GET /v1/batches/{id}/report': {
    response: Record<string, unknown>;
  };
  'GET /v1/exports/{id}/report': {
    response: Record<string, unknown>;
  };
  'GET /v1/batches/{id}/events': {
  };
  'GET /v1/exports/{id}/events': {
  };
  'POST /v1/batches/{id}/rerun': {
    body: {
      /** Outcomes of the rows to run again. */
      outcomes: ('no_match' | 'ambiguous' | 'invalid' | 'suppressed' | 'duplicate' | 'error' | 'not_processed')[];
      /** Wait in the state `ready` for a quote and a start, as after `hold` of an upload. */
      hold?: boolean | undefined;
    };
    response: Batch;
  };
  'GET /v1/batches/{id}/ambiguous': {
    query: {
      /** Maximum number of items in the response. */
      limit?: number | undefined;
      /** `next_cursor` of the previous page, or the cursor in its `Link`; none for the first page. */
      cursor?: string | undefined;
    };
    response: {
      data: {
        row: number;
        /** The list's own cells. */
        cells: string[];
        candidates: {
          id: number;
          probability: number;
          /** The agreement of the row with the record. Null in a list that was charged for fewer matches than it has ambiguous rows: free responses must not add up to records. */
          evidence: string | null;
          /** Of a person `title`, `industry` and `country`, where ten people or more have the value; of a company `name`, `city`, `country` and `industry`. Null in a list that was charged for fewer matches than it has ambiguous rows: free responses must not add up to records. */
          traits: Record<string, string | null> | null;
        }[];
      }[];
      next_cursor: string | null;
    };
  };
  'POST /v1/batches/{id}/decisions': {
    query: {
      /** As in the JSON, for a body of CSV. */
      hold?: 'true' | 'false' | undefined;
    };
    body: {
      decisions: {
        row: number;
        /** The candidate that the row means; null for none of them. */
        id: number | null;
      }[];
      /** Wait in the state `ready` for a quote and a start, as after `hold` of an upload. */
      hold?: boolean | undefined;
    };
    response: Batch;
  };
  'POST /v1/schedules': {
    body: {
      /** The search, as a query string of the filters of a person search. */
      filter: string;
      /** In a look-up, the name of the company; elsewhere, the name of what is created. */
      name?: string | undefined;
      /** Names of the fields to return, such as `workEmail,company.name`; all without it. */
      fields?: string[] | null | undefined;
      /** Format of the file. */
      format?: 'csv' | 'csv-safe' | 'jsonl' | 'xlsx' | undefined;
      /** Maximum number of people. */
      max_results?: number | null | undefined;
      /** Maximum credits to spend: a list pauses there, an export ends. */
      max_credits?: number | null | undefined;
      /** Five fields of a cron expression, such as `0 6 * * 1`. */
      cron: string;
      /** IANA time zone of the expression, such as `Europe/London`. */
      time_zone?: string | undefined;
      /** For a key: live or test data. For a schedule: all matching people or only new ones. */
      mode?: 'all' | 'new' | undefined;
      /** `false` turns it off. */
      enabled?: boolean | undefined;
    };
    response: SavedSchedule;
  };
  'GET /v1/schedules': {
    query: {
      /** Maximum number of items in the response. */
      limit?: number | undefined;
      /** `next_cursor` of the previous page, or the cursor in its `Link`; none for the first page. */
      cursor?: string | undefined;
    };
    response: {
      data: Schedule[];
      next_cursor: string | null;
    };
  };
  'GET /v1/schedules/preview': {
    query: {
      /** Five fields of a cron expression, such as `0 6 * * 1`. */
      cron: string;
      /** IANA time zone of the expression, such as `Europe/London`. */
      time_zone?: string | undefined;
    };
    response: {
      next_runs: string[];
    };
  };
  'GET /v1/schedules/{id}': {
    response: Schedule;
  };
  'PATCH /v1/schedules/{id}': {
    body: {
      /** The search, as a query string of the filters of a person search. */
      filter?: string | undefined;
      /** In a look-up, the name of the company; elsewhere, the name of what is created. */
      name?: string | undefined;
      /** Names of the fields to return, such as `workEmail,company.name`; all without it. */
      fields?: string[] | null | undefined;
      /** Format of the file. */
      format?: 'csv' | 'csv-safe' | 'jsonl' | 'xlsx' | undefined;
      /** Maximum number of people. */
      max_results?: number | null | undefined;
      /** Maximum credits to spend: a list pauses there, an export ends. */
      max_credits?: number | null | undefined;
      /** Five fields of a cron expression, such as `0 6 * * 1`. */
      cron?: string | undefined;
      /** IANA time zone of the expression, such as `Europe/London`. */
      time_zone?: string | undefined;
      /** For a key: live or test data. For a schedule: all matching people or only new ones. */
      mode?: 'all' | 'new' | undefined;
      /** `false` turns it off. */
      enabled?: boolean | undefined;
    };
    response: SavedSchedule;
  };
  'DELETE /v1/schedules/{id}': {
  };
  'GET /v1/schedules/{id}/runs': {
    query: {
      /** Maximum number of items in the response. */
      limit?: number | undefined;
      /** `next_cursor` of the previous page, or the cursor in its `Link`; none for the first page. */
      cursor?: string | undefined;
    };
    response: {
      data: {
        slot: string;
        state: string;
        reason: string | null;
        export_id: string | null;
        rows: number;
        credits: number;
        started_at: string | null;
        finished_at: string | null;
      }[];
      next_cursor: string | null;
    };
  };
  'POST /v1/schedules/{id}/run': {
    body: {
      /** Maximum credits to spend: a list pauses there, an export ends. */
      max_credits?: number | null | undefined;
    };
    response: {
      slot: string;
      state: string;
      reason: string | null;
      export_id: string | null;
      rows: number;
      credits: number;
      started_at: string | null;
      finished_at: string | null;
    };
  };
  'POST /v1/keys': {
    body: {
      /** For a key: live or test data. For a schedule: all matching people or only new ones. */
      mode: 'live' | 'test';
      /** In a look-up, the name of the company; elsewhere, the name of what is created. */
      name?: string | undefined;
      /** Scopes of the key. */
      scopes?: ('enrich' | 'search' | 'batches' | 'exports' | 'account' | 'reconcile')[] | undefined;
      /** Maximum number of calls in a minute. */
      requests_per_minute?: number | undefined;
      /** Maximum number of calls in a day (UTC). */
      requests_per_day?: number | undefined;
      /** Maximum number of rows of lists and exports in a minute. */
      rows_per_minute?: number | undefined;
      /** Maximum credits in a day (UTC); null for no limit. */
      credits_per_day?: number | undefined;
    };
    response: {
      key: string | null;
      id: string;
      prefix: string;
      name: string | null;
      mode: 'live' | 'test';
      scopes: string[];
      requests_per_minute: number;
      requests_per_day: number;
      rows_per_minute: number | null;
      credits_per_day: number | null;
      created_at: string;
      expires_at: string | null;
      revoked_at: string | null;
      /** Time of its last call, accurate to five minutes; null before the first. */
      last_used_at: string | null;
      /** Requests of this UTC day, as `requests_per_day` counts them: those of a rotated key and of the one before together. With Redis, requests that a process has reserved count too. */
      requests_today: number;
    };
  };
  'GET /v1/keys': {
    query: {
      /** Maximum number of items in the response. */
      limit?: number | undefined;
      /** `next_cursor` of the previous page, or the cursor in its `Link`; none for the first page. */
      cursor?: string | undefined;
    };
    response: {
      data: Key[];
      next_cursor: string | null;
    };
  };
  'DELETE /v1/keys/{id}': {
    response: Key;
  };
  'POST /v1/keys/{id}/roll': {
    body: {
      /** Seconds for which the old one stays valid. */
      overlap_seconds?: number | undefined;
    };
    response: {
      key: string | null;
      id: string;
      prefix: string;
      name: string | null;
      mode: 'live' | 'test';
      scopes: string[];
      requests_per_minute: number;
      requests_per_day: number;
      rows_per_minute: number | null;
      credits_per_day: number | null;
      created_at: string;
      expires_at: string | null;
      revoked_at: string | null;
      /** Time of its last call, accurate to five minutes; null before the first. */
      last_used_at: string | null;
      /** Requests of this UTC day, as `requests_per_day` counts them: those of a rotated key and of the one before together. With Redis, requests that a process has reserved count too. */
      requests_today: number;
      replaces: Key;
    };
  };
  'POST /v1/mappings': {
    body: {
      /** In a look-up, the name of the company; elsewhere, the name of what is created. */
      name: string;
      /** The list whose columns are kept. */
      batch_id: string;
    };
    response: NamedMapping;
  };
  'GET /v1/mappings': {
    query: {
      /** The operation to run on each row. */
      operation?: string | undefined;
      /** Maximum number of items in the response. */
      limit?: number | undefined;
      /** `next_cursor` of the previous page, or the cursor in its `Link`; none for the first page. */
      cursor?: string | undefined;
    };
    response: {
      data: NamedMapping[];
      next_cursor: string | null;
    };
  };
  'DELETE /v1/mappings/{id}': {
  };
  'POST /v1/searches': {
    body: {
      /** In a look-up, the name of the company; elsewhere, the name of what is created. */
      name: string;
      /** The search, as a query string of the filters of a person search. */
      filter: string;
    };
    response: SavedSearch;
  };
  'GET /v1/searches': {
    query: {
      /** Maximum number of items in the response. */
      limit?: number | undefined;
      /** `next_cursor` of the previous page, or the cursor in its `Link`; none for the first page. */
      cursor?: string | undefined;
    };
    response: {
      data: SavedSearch[];
      next_cursor: string | null;
    };
  };
  'DELETE /v1/searches/{id}': {
  };
  'POST /v1/webhooks': {
    body: {
      /** Address that receives the events, with `https://`. */
      url: string;
      /** Types of events to send. */
      events?: ('batch.completed' | 'batch.failed' | 'batch.cancelled' | 'batch.paused' | 'export.completed' | 'export.failed' | 'export.cancelled' | 'export.paused' | 'schedule.skipped' | 'schedule.failed' | 'credits.low' | 'credits.empty' | 'key.revoked')[] | undefined;
      /** Send `credits.low` when fewer credits than this are left. */
      credits_low_threshold?: number | undefined;
      /** `false` turns it off. */
      enabled?: boolean | undefined;
    };
    response: {
      secret: string | null;
      id: string;
      url: string;
      live: boolean;
      events: ('batch.completed' | 'batch.failed' | 'batch.cancelled' | 'batch.paused' | 'export.completed' | 'export.failed' | 'export.cancelled' | 'export.paused' | 'schedule.skipped' | 'schedule.failed' | 'credits.low' | 'credits.empty' | 'key.revoked')[];
      credits_low_threshold: number;
      enabled: boolean;
      /** Why the service disabled it; null when it did not. */
      disabled_reason: 'gone' | 'failing' | null;
      failing_since: string | null;
      previous_secret_until: string | null;
      created_at: string;
      links: Record<string, string>;
    };
  };
  'GET /v1/webhooks': {
    query: {
      /** Maximum number of items in the response. */
      limit?: number | undefined;
      /** `next_cursor` of the previous page, or the cursor in its `Link`; none for the first page. */
      cursor?: string | undefined;
    };
    response: {
      data: Webhook[];
      next_cursor: string | null;
    };
  };
  'GET /v1/webhooks/{id}': {
    response: Webhook;
  };
  'PATCH /v1/webhooks/{id}': {
    body: {
      /** Address that receives the events, with `https://`. */
      url?: string | undefined;
      /** Types of events to send. */
      events?: ('batch.completed' | 'batch.failed' | 'batch.cancelled' | 'batch.paused' | 'export.completed' | 'export.failed' | 'export.cancelled' | 'export.paused' | 'schedule.skipped' | 'schedule.failed' | 'credits.low' | 'credits.empty' | 'key.revoked')[] | undefined;
      /** Send `credits.low` when fewer credits than this are left. */
      credits_low_threshold?: number | undefined;
      /** `false` turns it off. */
      enabled?: boolean | undefined;
    };
    response: Webhook;
  };
  'DELETE /v1/webhooks/{id}': {
  };
  'POST /v1/webhooks/{id}/rotate': {
    body: {
      /** Seconds for which the old one stays valid. */
      overlap_seconds?: number | undefined;
    };
    response: {
      secret: string | null;
      id: string;
      url: string;
      live: boolean;
      events: ('batch.completed' | 'batch.failed' | 'batch.cancelled' | 'batch.paused' | 'export.completed' | 'export.failed' | 'export.cancelled' | 'export.paused' | 'schedule.skipped' | 'schedule.failed' | 'credits.low' | 'credits.empty' | 'key.revoked')[];
      credits_low_threshold: number;
      enabled: boolean;
      /** Why the service disabled it; null when it did not. */
      disabled_reason: 'gone' | 'failing' | null;
      failing_since: string | null;
      previous_secret_until: string | null;
      created_at: string;
      links: Record<string, string>;
    };
  };
  'POST /v1/webhooks/{id}/test': {
    response: WebhookDelivery;
  };
  'GET /v1/webhooks/{id}/deliveries': {
    query: {
      /** Only deliveries in this state. */
      state?: 'pending' | 'delivered' | 'failed' | undefined;
      /** Maximum number of items in the response. */
      limit?: number | undefined;
      /** `next_cursor` of the previous page, or the cursor in its `Link`; none for the first page. */
      cursor?: string | undefined;
    };
    response: {
      data: WebhookDelivery[];
      next_cursor: string | null;
    };
  };
  'POST /v1/webhooks/{id}/deliveries/{delivery_id}/replay': {
    response: WebhookDelivery;
  };
  'GET /v1/usage': {
    query: {
      /** First day (UTC), such as `2026-11-01`. */
      from?: string | undefined;
      /** Last day (UTC), included. */
      to?: string | undefined;
      /** Only what this key has spent. */
      key_id?: string | undefined;
      /** Maximum number of items in the response. */
      limit?: number | undefined;
      /** `next_cursor` of the previous page, or the cursor in its `Link`; none for the first page. */
      cursor?: string | undefined;
    };
    response: {
      data: {
        day: string;
        kind: 'grant' | 'charge' | 'refund';
        operation: string | null;
        key_id: string | null;
        batch_id: string | null;
        credits: number;
        units: number;
        lines: number;
      }[];
      next_cursor: string | null;
    };
  };
  'GET /v1/usage/lines': {
    query: {
      /** First day (UTC), such as `2026-11-01`. */
      from?: string | undefined;
      /** Last day (UTC), included. */
      to?: string | undefined;
      /** Only what this key has spent. */
      key_id?: string | undefined;
      /** Maximum number of items in the response. */
      limit?: number | undefined;
      /** `next_cursor` of the previous page, or the cursor in its `Link`; none for the first page. */
      cursor?: string | undefined;
    };
    response: {
      data: {
        created_at: string;
        kind: 'grant' | 'charge' | 'refund';
        operation: string | null;
        credits: number;
        units: number | null;
        key_id: string | null;
        batch_id: string | null;
        reference: string;
      }[];
      next_cursor: string | null;
    };
  };
  'GET /v1/usage/lines.csv': {
    query: {
      /** First day (UTC), such as `2026-11-01`. */
      from?: string | undefined;
      /** Last day (UTC), included. */
      to?: string | undefined;
      /** Only what this key has spent. */
      key_id?: string | undefined;
    };
  };
  'POST /admin/import-runs': {
    query: {
      /** Name of the file: adapters recognise it, and it may hold the day. */
      name: string;
    };
    response: ImportRun;
  };
  'GET /admin/import-runs': {
    query: {
      /** Maximum number of items in the response. */
      limit?: number | undefined;
      /** `next_cursor` of the previous page, or the cursor in its `Link`; none for the first page. */
      cursor?: string | undefined;
    };
    response: {
      data: ImportRun[];
      next_cursor: string | null;
    };
  };
  'GET /admin/import-runs/{id}': {
    response: ImportRun;
  };
  'PATCH /admin/import-runs/{id}': {
    body: {
      /** Name of the source; null or `auto` finds it. */
      source?: 'gb-companies' | 'gb-psc' | 'gb-officers' | 'gb-accounts' | 'gleif' | 'pdl' | 'sirene' | 'brreg' | 'ariregister' | 'hubspot' | 'salesforce' | 'apollo' | 'pipedrive' | 'linkedin' | 'google-contacts' | 'outlook' | 'vcard' | 'auto' | null | undefined;
      /** The columns of each field, under a name that is also that of the source; null guesses them. */
      mapping?: unknown | null | undefined;
      as_of?: string | null | undefined;
      /** `true`: accept a snapshot that lacks many of the earlier records. */
      allow_gone?: boolean | undefined;
    };
    response: ImportRun;
  };
  'POST /admin/import-runs/{id}/files': {
    query: {
      /** Name of the file: adapters recognise it, and it may hold the day. */
      name: string;
    };
    response: ImportRun;
  };
  'POST /admin/import-runs/{id}/count': {
    response: ImportRun;
  };
  'POST /admin/import-runs/{id}/start': {
    query: {
      /** The `revision` that the caller has seen: no other one is imported. */
      revision?: string | undefined;
    };
    response: ImportRun;
  };
  'POST /admin/import-runs/{id}/cancel': {
    response: ImportRun;
  };
  'GET /admin/import-runs/{id}/rejects': {
  };
  'GET /admin/imports': {
    query: {
      /** Maximum number of items in the response. */
      limit?: number | undefined;
      /** `next_cursor` of the previous page, or the cursor in its `Link`; none for the first page. */
      cursor?: string | undefined;
    };
    response: {
      data: Import[];
      next_cursor: string | null;
    };
  };
  'GET /admin/imports/{id}': {
    response: ShownImport;
  };
  'POST /admin/imports/{id}/undo': {
    body: {
      /** Ids of the later imports that build on it, as `undo.later` names them: they are undone too. */
      with?: number[] | undefined;
    };
    response: ImportRun;
  };
  'POST /admin/companies/{id}/split': {
    body: {
      /** Their numbers: `record` in the sources of the company or person. */
      records: number[];
    };
    /** The split, and the ids that its records have now. */
    response: {
      split: number;
      ids: number[];
    };
  };
  'POST /admin/people/{id}/split': {
    body: {
      /** Their numbers: `record` in the sources of the company or person. */
      records: number[];
    };
    /** The split, and the ids that its records have now. */
    response: {
      split: number;
      ids: number[];
    };
  };
  'GET /admin/splits': {
    query: {
      /** Maximum number of items in the response. */
      limit?: number | undefined;
      /** `next_cursor` of the previous page, or the cursor in its `Link`; none for the first page. */
      cursor?: string | undefined;
    };
    response: {
      data: Split[];
      next_cursor: string | null;
    };
  };
  'POST /admin/splits/{id}/undo': {
    /** The split, and the ids that its records have now. */
    response: {
      split: number;
      ids: number[];
    };
  };
}
