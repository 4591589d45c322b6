/** Names and codes of countries that are missing from CLDR's display names. */

/** Usual variants, by alpha-2 code. */
export const countryVariants: Readonly<Record<string, readonly string[]>> = {
  AE: ['UAE', 'U.A.E.', 'Emirates', 'Dubai', 'Abu Dhabi'],
  AX: ['Aland'],
  BA: ['Bosnia', 'Bosnia-Herzegovina', 'BiH'],
  BN: ['Brunei Darussalam'],
  BO: ['Bolivia, Plurinational State of', 'Plurinational State of Bolivia'],
  BR: ['Federative Republic of Brazil', 'República Federativa do Brasil'],
  BQ: ['Bonaire, Sint Eustatius and Saba', 'Bonaire', 'Caribbean Netherlands'],
  BS: ['Bahamas The'],
  BY: ['Byelorussia', 'Republic of Belarus'],
  CD: [
    'DRC',
    'DR Congo',
    'Congo (Kinshasa)',
    'Congo The Democratic Republic Of The',
    'Democratic Republic of the Congo',
    'Congo, Democratic Republic of the',
    'Zaire',
  ],
  CG: ['Congo', 'Republic of the Congo', 'Congo (Brazzaville)'],
  CI: ['Ivory Coast', "Cote D'Ivoire (Ivory Coast)"],
  CN: [
    'PR China',
    'P.R. China',
    'PRC',
    "People's Republic of China",
    'Mainland China',
    '中华人民共和国',
  ],
  CV: ['Cabo Verde'],
  CZ: ['Czech Republic', 'Czechia'],
  DE: ['Federal Republic of Germany', 'Bundesrepublik Deutschland', 'West Germany', 'BRD'],
  FJ: ['Fiji Islands'],
  FK: ['Falkland Islands (Malvinas)', 'Falklands', 'Malvinas'],
  FM: ['Micronesia, Federated States of', 'Federated States of Micronesia'],
  GB: [
    'UK',
    'U.K.',
    'Great Britain',
    'Großbritannien',
    'Britain',
    'Grande-Bretagne',
    'Gran Bretaña',
    'Gran Bretagna',
    'England',
    'Scotland',
    'Wales',
    'Northern Ireland',
    'England and Wales',
    'United Kingdom of Great Britain and Northern Ireland',
    'G.B.',
  ],
  GG: ['Guernsey and Alderney', 'Guernsey'],
  GM: ['Gambia The', 'The Gambia'],
  HK: ['Hong Kong', 'Hong Kong SAR', 'Hong Kong S.A.R.', 'Hongkong'],
  IE: ['Republic of Ireland', 'Eire', 'Irish Republic', 'ROI'],
  IM: ['Man (Isle of)', 'Isle of Man'],
  IR: ['Iran, Islamic Republic of', 'Islamic Republic of Iran', 'Persia'],
  KP: ['North Korea', 'Korea North', "Korea, Democratic People's Republic of", 'DPRK'],
  KR: [
    'South Korea',
    'Korea South',
    'Korea',
    'Korea, Republic of',
    'Republic of Korea',
    'S. Korea',
  ],
  LA: ["Lao People's Democratic Republic", 'Laos'],
  MD: ['Moldova, Republic of', 'Republic of Moldova'],
  MK: ['Macedonia', 'FYROM', 'Republic of Macedonia', 'Republic of North Macedonia'],
  MM: ['Burma', 'Myanmar'],
  MO: ['Macau', 'Macao', 'Macau S.A.R.', 'Macao SAR'],
  NL: ['Holland', 'The Netherlands', 'Netherlands The'],
  PN: ['Pitcairn Island'],
  PS: ['Palestine', 'Palestinian Territory Occupied', 'State of Palestine', 'West Bank', 'Gaza'],
  RU: ['Russian Federation', 'Russia'],
  SH: ['Saint Helena'],
  ST: ['Sao Tome and Principe'],
  SX: ['Sint Maarten (Dutch part)'],
  MF: ['Saint Martin (French part)', 'Saint-Martin (French part)'],
  SY: ['Syrian Arab Republic'],
  SZ: ['Swaziland'],
  TL: ['East Timor', 'Timor Leste'],
  TR: ['Turkey', 'Turkiye'],
  TW: ['Taiwan, Province of China', 'Republic of China', 'ROC', 'Chinese Taipei'],
  TZ: ['Tanzania, United Republic of', 'United Republic of Tanzania'],
  US: [
    'USA',
    'U.S.',
    'U.S.A.',
    'United States of America',
    'The States',
    'America',
    'Estados Unidos de América',
    'Estados Unidos da América',
    'Vereinigte Staaten von Amerika',
    "États-Unis d'Amérique",
    "Stati Uniti d'America",
    'Verenigde Staten van Amerika',
  ],
  VA: ['Vatican', 'Holy See', 'Vatican City State (Holy See)'],
  VE: ['Venezuela, Bolivarian Republic of'],
  VG: ['Virgin Islands (British)', 'BVI', 'Virgin Islands, British'],
  VI: ['Virgin Islands (US)', 'USVI', 'Virgin Islands, U.S.'],
  VN: ['Viet Nam'],
  XK: ['Kosovo'],
};

/** ISO 3166-1 alpha-3 codes with their alpha-2 codes. */
export const alpha3Codes: readonly string[] =
  `ABW:AW AFG:AF AGO:AO AIA:AI ALA:AX ALB:AL AND:AD ARE:AE
  ARG:AR ARM:AM ASM:AS ATA:AQ ATF:TF ATG:AG AUS:AU AUT:AT AZE:AZ BDI:BI BEL:BE BEN:BJ BES:BQ BFA:BF
  BGD:BD BGR:BG BHR:BH BHS:BS BIH:BA BLM:BL BLR:BY BLZ:BZ BMU:BM BOL:BO BRA:BR BRB:BB BRN:BN BTN:BT
  BVT:BV BWA:BW CAF:CF CAN:CA CCK:CC CHE:CH CHL:CL CHN:CN CIV:CI CMR:CM COD:CD COG:CG COK:CK COL:CO
  COM:KM CPV:CV CRI:CR CUB:CU CUW:CW CXR:CX CYM:KY CYP:CY CZE:CZ DEU:DE DJI:DJ DMA:DM DNK:DK DOM:DO
  DZA:DZ ECU:EC EGY:EG ERI:ER ESH:EH ESP:ES EST:EE ETH:ET FIN:FI FJI:FJ FLK:FK FRA:FR FRO:FO FSM:FM
  GAB:GA GBR:GB GEO:GE GGY:GG GHA:GH GIB:GI GIN:GN GLP:GP GMB:GM GNB:GW GNQ:GQ GRC:GR GRD:GD GRL:GL
  GTM:GT GUF:GF GUM:GU GUY:GY HKG:HK HMD:HM HND:HN HRV:HR HTI:HT HUN:HU IDN:ID IMN:IM IND:IN IOT:IO
  IRL:IE IRN:IR IRQ:IQ ISL:IS ISR:IL ITA:IT JAM:JM JEY:JE JOR:JO JPN:JP KAZ:KZ KEN:KE KGZ:KG KHM:KH
  KIR:KI KNA:KN KOR:KR KWT:KW LAO:LA LBN:LB LBR:LR LBY:LY LCA:LC LIE:LI LKA:LK LSO:LS LTU:LT LUX:LU
  LVA:LV MAC:MO MAF:MF MAR:MA MCO:MC MDA:MD MDG:MG MDV:MV MEX:MX MHL:MH MKD:MK MLI:ML MLT:MT MMR:MM
  MNE:ME MNG:MN MNP:MP MOZ:MZ MRT:MR MSR:MS MTQ:MQ MUS:MU MWI:MW MYS:MY MYT:YT NAM:NA NCL:NC NER:NE
  NFK:NF NGA:NG NIC:NI NIU:NU NLD:NL NOR:NO NPL:NP NRU:NR NZL:NZ OMN:OM PAK:PK PAN:PA PCN:PN PER:PE
  PHL:PH PLW:PW PNG:PG POL:PL PRI:PR PRK:KP PRT:PT PRY:PY PSE:PS PYF:PF QAT:QA REU:RE ROU:RO RUS:RU
  RWA:RW SAU:SA SDN:SD SEN:SN SGP:SG SGS:GS SHN:SH SJM:SJ SLB:SB SLE:SL SLV:SV SMR:SM SOM:SO SPM:PM
  SRB:RS SSD:SS STP:ST SUR:SR SVK:SK SVN:SI SWE:SE SWZ:SZ SXM:SX SYC:SC SYR:SY TCA:TC TCD:TD TGO:TG
  THA:TH TJK:TJ TKL:TK TKM:TM TLS:TL TON:TO TTO:TT TUN:TN TUR:TR TUV:TV TWN:TW TZA:TZ UGA:UG UKR:UA
  UMI:UM URY:UY USA:US UZB:UZ VAT:VA VCT:VC VEN:VE VGB:VG VIR:VI VNM:VN VUT:VU WLF:WF WSM:WS XKX:XK
  YEM:YE ZAF:ZA ZMB:ZM ZWE:ZW`.split(/\s+/);
