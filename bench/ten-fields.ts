/** The fields of lists that read the short records. */
export const tenFields = [
  'id',
  'name',
  'surname',
  'email',
  'workEmail',
  'position',
  'companyId',
  'locality',
  'phone',
  'mobile',
];
