/**
 * Industries by the codes of registers, in words of our own: the divisions of NACE Rev. 2, on which the codes of Britain
 * (SIC 2007), France (NAF), Norway (SN) and Estonia (EMTAK) are built; the sectors of NAICS; the divisions of the
 * American SIC.
 */

/** By the first two digits. */
const naceDivisions: Readonly<Record<string, string>> = {
  '01': 'Farming',
  '02': 'Forestry',
  '03': 'Fishing',
  '05': 'Coal Mining',
  '06': 'Oil and Gas',
  '07': 'Metal Mining',
  '08': 'Quarrying',
  '09': 'Mining Services',
  10: 'Food Production',
  11: 'Beverages',
  12: 'Tobacco',
  13: 'Textiles',
  14: 'Clothing',
  15: 'Leather',
  16: 'Wood Products',
  17: 'Paper',
  18: 'Printing',
  19: 'Oil Refining',
  20: 'Chemicals',
  21: 'Pharmaceuticals',
  22: 'Rubber and Plastics',
  23: 'Glass, Ceramics and Cement',
  24: 'Metals',
  25: 'Metal Products',
  26: 'Electronics',
  27: 'Electrical Equipment',
  28: 'Machinery',
  29: 'Motor Vehicles',
  30: 'Ships, Trains and Aircraft',
  31: 'Furniture',
  32: 'Other Manufacturing',
  33: 'Repair of Machinery',
  35: 'Electricity and Gas Supply',
  36: 'Water Supply',
  37: 'Sewerage',
  38: 'Waste Management',
  39: 'Decontamination',
  41: 'Construction of Buildings',
  42: 'Civil Engineering',
  43: 'Building Trades',
  45: 'Motor Trade',
  46: 'Wholesale',
  47: 'Retail',
  49: 'Land Transport',
  50: 'Water Transport',
  51: 'Air Transport',
  52: 'Warehousing and Logistics',
  53: 'Post and Couriers',
  55: 'Accommodation',
  56: 'Restaurants and Catering',
  58: 'Publishing',
  59: 'Film, Television and Music',
  60: 'Broadcasting',
  61: 'Telecommunications',
  62: 'Software and IT Services',
  63: 'Information Services',
  64: 'Financial Services',
  65: 'Insurance',
  66: 'Financial and Insurance Brokerage',
  68: 'Real Estate',
  69: 'Law and Accounting',
  70: 'Head Offices and Management Consulting',
  71: 'Architecture and Engineering',
  72: 'Research and Development',
  73: 'Advertising and Market Research',
  74: 'Other Professional Services',
  75: 'Veterinary Services',
  77: 'Rental and Leasing',
  78: 'Employment Services',
  79: 'Travel Agencies',
  80: 'Security Services',
  81: 'Facility Services',
  82: 'Office Services',
  84: 'Public Administration',
  85: 'Education',
  86: 'Health Care',
  87: 'Residential Care',
  88: 'Social Work',
  90: 'Arts',
  91: 'Libraries and Museums',
  92: 'Gambling',
  93: 'Sport and Recreation',
  94: 'Associations',
  95: 'Repair of Household Goods',
  96: 'Personal Services',
  97: 'Households as Employers',
  98: 'Households',
  99: 'International Organisations',
};

/** By the first two digits. */
const naicsSectors: Readonly<Record<string, string>> = {
  11: 'Farming, Forestry and Fishing',
  21: 'Mining, Oil and Gas',
  22: 'Utilities',
  23: 'Construction',
  31: 'Manufacturing',
  32: 'Manufacturing',
  33: 'Manufacturing',
  42: 'Wholesale',
  44: 'Retail',
  45: 'Retail',
  48: 'Transport and Warehousing',
  49: 'Transport and Warehousing',
  51: 'Information and Media',
  52: 'Finance and Insurance',
  53: 'Real Estate',
  54: 'Professional and Technical Services',
  55: 'Holding Companies',
  56: 'Administrative and Waste Services',
  61: 'Education',
  62: 'Health Care',
  71: 'Arts and Recreation',
  72: 'Accommodation and Restaurants',
  81: 'Other Services',
  92: 'Public Administration',
};

/** The last two-digit group of each division of the American SIC. */
const sicDivisions: readonly (readonly [last: number, name: string])[] = [
  [9, 'Farming, Forestry and Fishing'],
  [14, 'Mining, Oil and Gas'],
  [17, 'Construction'],
  [39, 'Manufacturing'],
  [49, 'Transport and Utilities'],
  [51, 'Wholesale'],
  [59, 'Retail'],
  [67, 'Finance and Insurance'],
  [89, 'Services'],
  [97, 'Public Administration'],
];

/**
 * Returns the industry of a code; undefined for any other text. Six digits are NAICS; four are the American SIC in the
 * United States (`country` is ISO alpha-2); everything else is built on NACE: `62020`, `62.02Z`, `43.210`, `6202`.
 */
export function industryOfCode(code: string, country: string): string | undefined {
  const digits = /^(\d\d)(\d{0,4})$/.exec(
    code
      .trim()
      .replace(/[A-Z]$/i, '')
      .replaceAll('.', ''),
  );
  if (digits === null) return undefined;
  const [, group = '', rest = ''] = digits;
  const isPlain = /^\d+$/.test(code.trim());
  if (isPlain && rest.length === 4) return naicsSectors[group];
  if (isPlain && rest.length === 2 && country === 'US') {
    return sicDivisions.find(([last]) => Number(group) <= last)?.[1];
  }
  return naceDivisions[group];
}
