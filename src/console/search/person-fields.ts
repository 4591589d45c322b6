/** The fields of a person's record by what they tell of, in people's words. */

/** How the values of a field are written in a filter. */
export type FieldKind = 'text' | 'integer' | 'time' | 'object' | 'words';

interface FieldGroup {
  label: string;
  /** Label by name. */
  fields: Readonly<Record<string, string>>;
}

/** Every field of the record. */
export const fieldGroups: readonly FieldGroup[] = [
  {
    label: 'Person',
    fields: {
      id: 'Id',
      title: 'Honorific',
      name: 'Given name',
      surname: 'Surname',
      gender: 'Gender',
      birthDate: 'Date of birth',
      birthYear: 'Year of birth',
      language: 'Languages',
      school: 'School',
      summary: 'Summary',
    },
  },
  {
    label: 'Contact',
    fields: {
      workEmail: 'Work email',
      workEmailStatus: 'Status of the work email',
      email: 'Email',
      emailStatus: 'Status of the email',
      mobile: 'Mobile',
      mobileStatus: 'Status of the mobile',
      phone: 'Phone',
      phoneStatus: 'Status of the phone',
      domain: 'Domain',
    },
  },
  {
    label: 'Work',
    fields: {
      position: 'Job title',
      positionId: 'Job title id',
      positions: 'Known job title',
      company: 'Company',
      companyId: 'Company id',
      currentCompanyId: 'Current company id',
      currentCompanies: 'Current companies',
      pastCompany: 'Past company',
      pastCompanyId: 'Past company id',
      pastCompanies: 'Past companies',
      industries: 'Industry',
      industryId: 'Industry id',
      inferredSalary: 'Salary',
      inferredYearsExperience: 'Years of experience',
      experience: 'Past roles',
      skills: 'Skills',
      serviceCategories: 'Services',
    },
  },
  {
    label: 'Location',
    fields: {
      locality: 'Location',
      cities: 'City',
      cityId: 'City id',
      regions: 'Region',
      regionId: 'Region id',
      countries: 'Country',
      countryId: 'Country id',
      street: 'Street',
      postcode: 'Postcode',
      locationGeo: 'Coordinates',
      ipAddress: 'IP address',
    },
  },
  {
    label: 'Profiles',
    fields: {
      professional_network: 'Profile',
      professional_networkConnections: 'Connections',
      professional_networkStatus: 'Status of the profile',
      profileLanguage: 'Language of the profile',
      profileImage: 'Picture',
      profileImageMapping: 'Picture, mapped',
      twitter: 'X handle',
      twitterStatus: 'Status of the handle',
      social_aId: 'Social network id',
      social_aUsername: 'Social network name',
      social_aStatus: 'Status on the social network',
      lastPost: 'Last post',
      lastPostDate: 'Date of the last post',
    },
  },
  {
    label: 'Record',
    fields: {
      createdAt: 'Created',
      whenUpdated: 'Updated',
      dataSourceType: 'Kind of source',
      statusType: 'Kind of status',
      bounceResponseType: 'Kind of bounce',
    },
  },
];

/** The fields that most people look for, the first ones first. */
export const mainFields = [
  'name',
  'surname',
  'position',
  'company',
  'workEmail',
  'email',
  'mobile',
  'phone',
  'professional_network',
  'locality',
  'industries',
  'skills',
] as const;

const labels: ReadonlyMap<string, string> = new Map(
  fieldGroups.flatMap(({ fields }) => Object.entries(fields)),
);

export function fieldLabel(name: string): string {
  return labels.get(name) ?? name;
}

const kinds: Readonly<Partial<Record<FieldKind, string>>> = {
  integer: `id birthYear professional_networkConnections industryId positionId companyId
    inferredYearsExperience pastCompanyId currentCompanyId cityId countryId regionId dataSourceType
    statusType bounceResponseType`,
  time: 'createdAt whenUpdated birthDate lastPostDate',
  object: `industries positions company pastCompanies currentCompanies cities countries regions`,
};

const kindOf: ReadonlyMap<string, FieldKind> = new Map(
  Object.entries(kinds).flatMap(([kind, names]) =>
    names
      .split(/\s+/)
      .filter(Boolean)
      .map((name) => [name, kind as FieldKind]),
  ),
);

export function fieldKind(name: string): FieldKind {
  return kindOf.get(name) ?? 'text';
}
