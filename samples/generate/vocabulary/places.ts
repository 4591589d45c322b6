/**
 * The countries of the generated graph: real places, so that locality, coordinates and phone numbers agree. Phone
 * prefixes are chosen so that every number of `prefix` and `digits` random digits is valid by the numbering plan
 * (a test checks that); North American numbers stay in exchange 555, where few lines were ever assigned.
 */

export interface CountryWords {
  iso2: string;
  name: string;
  /** Share of companies and people, relative to the sum of all weights. */
  weight: number;
  /** Names of `cultures.ts`, the main one first. */
  cultures: readonly string[];
  fixed: PhonePrefixes;
  mobile: PhonePrefixes;
  /** `9` is any digit, `A` any letter of a post code. */
  postcode: string;
  /** Form of a street address; `#` is the house number. */
  streets: readonly string[];
  currency: string;
  legalForms: readonly string[];
  languages: string;
  /** `city|region|latitude|longitude` in lines. */
  cities: string;
}

export interface PhonePrefixes {
  /** E.164 beginnings, separated by spaces. */
  prefixes: string;
  /** Number of digits that follow. */
  digits: number;
}

const englishStreets = [
  '# High Street',
  '# Station Road',
  '# Park Lane',
  '# Church Road',
  '# Mill Lane',
  '# Queens Avenue',
  '# Harbour Way',
  '# Bridge Street',
  '# Orchard Close',
  '# Market Place',
];
const americanStreets = [
  '# Main Street',
  '# Oak Avenue',
  '# Maple Drive',
  '# 2nd Street',
  '# Washington Boulevard',
  '# Lakeview Drive',
  '# Cedar Court',
  '# Commerce Parkway',
  '# Hillcrest Road',
  '# Industrial Way',
];
const germanStreets = [
  'Hauptstraße #',
  'Bahnhofstraße #',
  'Gartenweg #',
  'Schillerstraße #',
  'Am Markt #',
  'Lindenallee #',
  'Industriestraße #',
  'Mühlenweg #',
];
const frenchStreets = [
  '# rue de la République',
  '# avenue Victor Hugo',
  '# place du Marché',
  '# rue des Écoles',
  '# boulevard Pasteur',
  '# rue du Moulin',
  "# rue de l'Église",
];
const dutchStreets = ['Kerkstraat #', 'Dorpsstraat #', 'Stationsweg #', 'Molenlaan #', 'Markt #'];
const spanishStreets = [
  'Calle Mayor #',
  'Avenida de la Constitución #',
  'Calle Real #',
  'Paseo del Prado #',
  'Calle Nueva #',
  'Avenida Libertad #',
];
const portugueseStreets = ['Rua Direita #', 'Avenida Central #', 'Rua da Igreja #', 'Rua Nova #'];
const italianStreets = ['Via Roma #', 'Via Garibaldi #', 'Corso Italia #', 'Piazza Dante #'];
const nordicStreets = ['Storgatan #', 'Kungsgatan #', 'Skolevej #', 'Kirkegata #', 'Havnegade #'];
const slavicStreets = ['ul. Polna #', 'ul. Nowa #', 'Hlavní #', 'Nádražní #', 'ul. Szkolna #'];
const plainStreets = ['# Central Avenue', '# Garden Road', '# Station Street', '# Temple Road'];

/** North American area codes; numbers stay in exchange 555. */
const fixedAreaCodes = `201 202 203 205 206 207 208 209 210 212 213 214 215 216 217 218 219 224 225
  228 229 231 234 239 240 248 251 252 253 254 256 260 262 267 269 270 276 281
  301 302 303 304 305 307 308 309 310 312 313 314 315 316 317 318 319 320 321
  323 325 330 331 334 336 337 339 347 351 352 360 361 386 401 402 404 405 406
  407 408 409 410 412 413 414 415 417 419 423 424 425 430 432 434 435 440 443
  458 469 470 478 479`;
const mobileAreaCodes = `480 484 501 502 503 504 505 507 508 509 510 512 513 515 516 517 518 520 530
  540 541 551 559 561 562 563 567 570 571 573 574 580 585 586 601 602 603 605
  606 607 608 609 610 612 614 615 616 617 618 619 620 623 626 630 631 636 641
  646 650 651 660 661 662 678 682 701 702 703 704 706 707 708 712 713 714 715
  716 717 718 719 720 724 727 731 732 734 740 754 757 760 763 765 770 772 773
  774 775 781 785 786`;
const exchange555 = (areaCodes: string) =>
  areaCodes
    .split(/\s+/)
    .map((code) => `+1${code}555`)
    .join(' ');

export const countries: readonly CountryWords[] = [
  {
    iso2: 'US',
    name: 'United States',
    weight: 26,
    cultures: ['english', 'spanish', 'german', 'indian', 'chinese', 'korean', 'vietnamese'],
    fixed: { prefixes: exchange555(fixedAreaCodes), digits: 4 },
    mobile: { prefixes: exchange555(mobileAreaCodes), digits: 4 },
    postcode: '99999',
    streets: americanStreets,
    currency: 'USD',
    legalForms: ['Inc.', 'LLC', 'Corp.', 'Inc'],
    languages: 'english',
    cities: `New York|New York|40.7128|-74.0060
Buffalo|New York|42.8864|-78.8784
Los Angeles|California|34.0522|-118.2437
San Francisco|California|37.7749|-122.4194
San Diego|California|32.7157|-117.1611
Sacramento|California|38.5816|-121.4944
Chicago|Illinois|41.8781|-87.6298
Houston|Texas|29.7604|-95.3698
Austin|Texas|30.2672|-97.7431
Dallas|Texas|32.7767|-96.7970
Phoenix|Arizona|33.4484|-112.0740
Philadelphia|Pennsylvania|39.9526|-75.1652
Pittsburgh|Pennsylvania|40.4406|-79.9959
Boston|Massachusetts|42.3601|-71.0589
Seattle|Washington|47.6062|-122.3321
Denver|Colorado|39.7392|-104.9903
Atlanta|Georgia|33.7490|-84.3880
Miami|Florida|25.7617|-80.1918
Tampa|Florida|27.9506|-82.4572
Detroit|Michigan|42.3314|-83.0458
Minneapolis|Minnesota|44.9778|-93.2650
Portland|Oregon|45.5152|-122.6784
Nashville|Tennessee|36.1627|-86.7816
Columbus|Ohio|39.9612|-82.9988
Cleveland|Ohio|41.4993|-81.6944
Charlotte|North Carolina|35.2271|-80.8431
Salt Lake City|Utah|40.7608|-111.8910`,
  },
  {
    iso2: 'GB',
    name: 'United Kingdom',
    weight: 18,
    cultures: ['english', 'indian', 'irish', 'polish', 'arabic', 'nigerian'],
    fixed: {
      prefixes: '+441132 +441142 +441212 +441312 +441412 +441512 +441612 +442079',
      digits: 6,
    },
    mobile: { prefixes: '+447400 +447401 +447402 +447500 +447501 +447502', digits: 6 },
    postcode: 'AA9 9AA',
    streets: englishStreets,
    currency: 'GBP',
    legalForms: ['Ltd', 'Limited', 'PLC', 'LLP', 'Ltd'],
    languages: 'english',
    cities: `London|England|51.5074|-0.1278
Manchester|England|53.4808|-2.2426
Birmingham|England|52.4862|-1.8904
Leeds|England|53.8008|-1.5491
Liverpool|England|53.4084|-2.9916
Bristol|England|51.4545|-2.5879
Sheffield|England|53.3811|-1.4701
Newcastle upon Tyne|England|54.9783|-1.6178
Nottingham|England|52.9548|-1.1581
Cambridge|England|52.2053|0.1218
Oxford|England|51.7520|-1.2577
Brighton|England|50.8225|-0.1372
Edinburgh|Scotland|55.9533|-3.1883
Glasgow|Scotland|55.8642|-4.2518
Aberdeen|Scotland|57.1497|-2.0943
Cardiff|Wales|51.4816|-3.1791
Swansea|Wales|51.6214|-3.9436
Belfast|Northern Ireland|54.5973|-5.9301`,
  },
  {
    iso2: 'CA',
    name: 'Canada',
    weight: 4,
    cultures: ['english', 'french', 'chinese', 'indian'],
    fixed: { prefixes: exchange555('204 250 306 403 416 418 450 506 514 519'), digits: 4 },
    mobile: { prefixes: exchange555('604 613 647 705 709 778 780 807 819 902 905'), digits: 4 },
    postcode: 'A9A 9A9',
    streets: americanStreets,
    currency: 'CAD',
    legalForms: ['Inc.', 'Ltd.', 'Corp.'],
    languages: 'english, french',
    cities: `Toronto|Ontario|43.6532|-79.3832
Ottawa|Ontario|45.4215|-75.6972
Montréal|Quebec|45.5017|-73.5673
Québec|Quebec|46.8139|-71.2080
Vancouver|British Columbia|49.2827|-123.1207
Calgary|Alberta|51.0447|-114.0719
Winnipeg|Manitoba|49.8951|-97.1384
Halifax|Nova Scotia|44.6488|-63.5752`,
  },
  {
    iso2: 'IE',
    name: 'Ireland',
    weight: 2,
    cultures: ['irish', 'english', 'polish'],
    fixed: { prefixes: '+35316', digits: 6 },
    mobile: { prefixes: '+353871 +353872', digits: 6 },
    postcode: 'A99 A9A9',
    streets: englishStreets,
    currency: 'EUR',
    legalForms: ['Ltd', 'DAC', 'Limited'],
    languages: 'english, irish',
    cities: `Dublin|Leinster|53.3498|-6.2603
Cork|Munster|51.8985|-8.4756
Galway|Connacht|53.2707|-9.0568
Limerick|Munster|52.6638|-8.6267`,
  },
  {
    iso2: 'AU',
    name: 'Australia',
    weight: 3,
    cultures: ['english', 'chinese', 'greek', 'indian', 'vietnamese'],
    fixed: { prefixes: '+61399 +61398 +61290', digits: 6 },
    mobile: { prefixes: '+61410 +61411 +61412', digits: 6 },
    postcode: '9999',
    streets: englishStreets,
    currency: 'AUD',
    legalForms: ['Pty Ltd', 'Ltd', 'Pty. Ltd.'],
    languages: 'english',
    cities: `Sydney|New South Wales|-33.8688|151.2093
Newcastle|New South Wales|-32.9283|151.7817
Melbourne|Victoria|-37.8136|144.9631
Brisbane|Queensland|-27.4698|153.0251
Perth|Western Australia|-31.9505|115.8605
Adelaide|South Australia|-34.9285|138.6007`,
  },
  {
    iso2: 'NZ',
    name: 'New Zealand',
    weight: 1,
    cultures: ['english', 'chinese'],
    fixed: { prefixes: '+6492', digits: 6 },
    mobile: { prefixes: '+64211 +64212', digits: 6 },
    postcode: '9999',
    streets: englishStreets,
    currency: 'NZD',
    legalForms: ['Ltd', 'Limited'],
    languages: 'english',
    cities: `Auckland|Auckland|-36.8485|174.7633
Wellington|Wellington|-41.2866|174.7756
Christchurch|Canterbury|-43.5321|172.6362`,
  },
  {
    iso2: 'ZA',
    name: 'South Africa',
    weight: 1,
    cultures: ['english', 'dutch'],
    fixed: { prefixes: '+27110 +27213', digits: 6 },
    mobile: { prefixes: '+27821 +27831', digits: 6 },
    postcode: '9999',
    streets: englishStreets,
    currency: 'ZAR',
    legalForms: ['(Pty) Ltd', 'Ltd'],
    languages: 'english, afrikaans',
    cities: `Johannesburg|Gauteng|-26.2041|28.0473
Pretoria|Gauteng|-25.7479|28.2293
Cape Town|Western Cape|-33.9249|18.4241
Durban|KwaZulu-Natal|-29.8587|31.0218`,
  },
  {
    iso2: 'IN',
    name: 'India',
    weight: 7,
    cultures: ['indian'],
    fixed: { prefixes: '+911123 +912223', digits: 6 },
    mobile: { prefixes: '+919811 +919812 +919820', digits: 6 },
    postcode: '999999',
    streets: ['# MG Road', '# Park Street', '# Nehru Marg', '# Gandhi Nagar', '# Ring Road'],
    currency: 'INR',
    legalForms: ['Pvt Ltd', 'Private Limited', 'Ltd'],
    languages: 'hindi, english',
    cities: `Mumbai|Maharashtra|19.0760|72.8777
Pune|Maharashtra|18.5204|73.8567
New Delhi|Delhi|28.6139|77.2090
Bengaluru|Karnataka|12.9716|77.5946
Hyderabad|Telangana|17.3850|78.4867
Chennai|Tamil Nadu|13.0827|80.2707
Kolkata|West Bengal|22.5726|88.3639
Ahmedabad|Gujarat|23.0225|72.5714
Jaipur|Rajasthan|26.9124|75.7873`,
  },
  {
    iso2: 'DE',
    name: 'Germany',
    weight: 8,
    cultures: ['german', 'turkish', 'polish', 'russian', 'italian'],
    fixed: { prefixes: '+4930 +4940 +4989', digits: 8 },
    mobile: { prefixes: '+49151 +49152', digits: 8 },
    postcode: '99999',
    streets: germanStreets,
    currency: 'EUR',
    legalForms: ['GmbH', 'AG', 'GmbH & Co. KG', 'SE', 'GmbH'],
    languages: 'german, english',
    cities: `Berlin|Berlin|52.5200|13.4050
Hamburg|Hamburg|53.5511|9.9937
München|Bavaria|48.1351|11.5820
Nürnberg|Bavaria|49.4521|11.0767
Köln|North Rhine-Westphalia|50.9375|6.9603
Düsseldorf|North Rhine-Westphalia|51.2277|6.7735
Dortmund|North Rhine-Westphalia|51.5136|7.4653
Frankfurt am Main|Hesse|50.1109|8.6821
Stuttgart|Baden-Württemberg|48.7758|9.1829
Karlsruhe|Baden-Württemberg|49.0069|8.4037
Leipzig|Saxony|51.3397|12.3731
Dresden|Saxony|51.0504|13.7373
Hannover|Lower Saxony|52.3759|9.7320
Bremen|Bremen|53.0793|8.8017`,
  },
  {
    iso2: 'AT',
    name: 'Austria',
    weight: 1,
    cultures: ['german', 'turkish', 'czech'],
    fixed: { prefixes: '+4315', digits: 6 },
    mobile: { prefixes: '+43664', digits: 7 },
    postcode: '9999',
    streets: germanStreets,
    currency: 'EUR',
    legalForms: ['GmbH', 'AG', 'KG'],
    languages: 'german',
    cities: `Wien|Vienna|48.2082|16.3738
Graz|Styria|47.0707|15.4395
Linz|Upper Austria|48.3069|14.2858
Salzburg|Salzburg|47.8095|13.0550
Innsbruck|Tyrol|47.2692|11.4041`,
  },
  {
    iso2: 'CH',
    name: 'Switzerland',
    weight: 2,
    cultures: ['german', 'french', 'italian'],
    fixed: { prefixes: '+4122 +4143 +4144', digits: 7 },
    mobile: { prefixes: '+4178 +4179', digits: 7 },
    postcode: '9999',
    streets: germanStreets,
    currency: 'CHF',
    legalForms: ['AG', 'GmbH', 'SA', 'Sàrl'],
    languages: 'german, french, english',
    cities: `Zürich|Zurich|47.3769|8.5417
Winterthur|Zurich|47.5001|8.7240
Genève|Geneva|46.2044|6.1432
Basel|Basel-City|47.5596|7.5886
Bern|Bern|46.9480|7.4474
Lausanne|Vaud|46.5197|6.6323`,
  },
  {
    iso2: 'FR',
    name: 'France',
    weight: 6,
    cultures: ['french', 'arabic', 'portuguese'],
    fixed: { prefixes: '+3315 +3314', digits: 7 },
    mobile: { prefixes: '+3361 +3362', digits: 7 },
    postcode: '99999',
    streets: frenchStreets,
    currency: 'EUR',
    legalForms: ['SAS', 'SARL', 'SA', 'SASU'],
    languages: 'french, english',
    cities: `Paris|Île-de-France|48.8566|2.3522
Versailles|Île-de-France|48.8014|2.1301
Lyon|Auvergne-Rhône-Alpes|45.7640|4.8357
Grenoble|Auvergne-Rhône-Alpes|45.1885|5.7245
Marseille|Provence-Alpes-Côte d'Azur|43.2965|5.3698
Nice|Provence-Alpes-Côte d'Azur|43.7102|7.2620
Toulouse|Occitanie|43.6047|1.4442
Montpellier|Occitanie|43.6108|3.8767
Bordeaux|Nouvelle-Aquitaine|44.8378|-0.5792
Lille|Hauts-de-France|50.6292|3.0573
Nantes|Pays de la Loire|47.2184|-1.5536
Strasbourg|Grand Est|48.5734|7.7521
Rennes|Brittany|48.1173|-1.6778`,
  },
  {
    iso2: 'BE',
    name: 'Belgium',
    weight: 1,
    cultures: ['dutch', 'french'],
    fixed: { prefixes: '+3225', digits: 6 },
    mobile: { prefixes: '+32470 +32471', digits: 6 },
    postcode: '9999',
    streets: dutchStreets,
    currency: 'EUR',
    legalForms: ['NV', 'BV', 'SA', 'SRL'],
    languages: 'dutch, french',
    cities: `Bruxelles|Brussels-Capital|50.8503|4.3517
Antwerpen|Flanders|51.2194|4.4025
Gent|Flanders|51.0543|3.7174
Liège|Wallonia|50.6326|5.5797`,
  },
  {
    iso2: 'NL',
    name: 'Netherlands',
    weight: 3,
    cultures: ['dutch', 'turkish', 'arabic'],
    fixed: { prefixes: '+3120 +3110', digits: 7 },
    mobile: { prefixes: '+31610 +31611 +31612', digits: 6 },
    postcode: '9999 AA',
    streets: dutchStreets,
    currency: 'EUR',
    legalForms: ['B.V.', 'N.V.', 'BV'],
    languages: 'dutch, english',
    cities: `Amsterdam|North Holland|52.3676|4.9041
Haarlem|North Holland|52.3874|4.6462
Rotterdam|South Holland|51.9244|4.4777
Den Haag|South Holland|52.0705|4.3007
Utrecht|Utrecht|52.0907|5.1214
Eindhoven|North Brabant|51.4416|5.4697`,
  },
  {
    iso2: 'ES',
    name: 'Spain',
    weight: 4,
    cultures: ['spanish', 'arabic'],
    fixed: { prefixes: '+3491 +3493', digits: 7 },
    mobile: { prefixes: '+34612 +34622 +34633', digits: 6 },
    postcode: '99999',
    streets: spanishStreets,
    currency: 'EUR',
    legalForms: ['S.L.', 'S.A.', 'SL'],
    languages: 'spanish, english',
    cities: `Madrid|Community of Madrid|40.4168|-3.7038
Barcelona|Catalonia|41.3874|2.1686
Girona|Catalonia|41.9794|2.8214
Valencia|Valencian Community|39.4699|-0.3763
Sevilla|Andalusia|37.3891|-5.9845
Málaga|Andalusia|36.7213|-4.4214
Bilbao|Basque Country|43.2630|-2.9350
A Coruña|Galicia|43.3623|-8.4115`,
  },
  {
    iso2: 'MX',
    name: 'Mexico',
    weight: 2,
    cultures: ['spanish'],
    fixed: { prefixes: '+5255', digits: 8 },
    mobile: { prefixes: '+5281', digits: 8 },
    postcode: '99999',
    streets: spanishStreets,
    currency: 'MXN',
    legalForms: ['S.A. de C.V.', 'S. de R.L.'],
    languages: 'spanish',
    cities: `Ciudad de México|Mexico City|19.4326|-99.1332
Guadalajara|Jalisco|20.6597|-103.3496
Monterrey|Nuevo León|25.6866|-100.3161
Mérida|Yucatán|20.9674|-89.5926`,
  },
  {
    iso2: 'BR',
    name: 'Brazil',
    weight: 3,
    cultures: ['portuguese', 'italian', 'japanese'],
    fixed: { prefixes: '+55113 +55213', digits: 7 },
    mobile: { prefixes: '+55119 +55219', digits: 8 },
    postcode: '99999-999',
    streets: portugueseStreets,
    currency: 'BRL',
    legalForms: ['Ltda', 'S.A.', 'Ltda.'],
    languages: 'portuguese',
    cities: `São Paulo|São Paulo|-23.5505|-46.6333
Campinas|São Paulo|-22.9099|-47.0626
Rio de Janeiro|Rio de Janeiro|-22.9068|-43.1729
Belo Horizonte|Minas Gerais|-19.9167|-43.9345
Curitiba|Paraná|-25.4284|-49.2733
Brasília|Federal District|-15.7939|-47.8828`,
  },
  {
    iso2: 'PT',
    name: 'Portugal',
    weight: 1,
    cultures: ['portuguese'],
    fixed: { prefixes: '+351211 +351221', digits: 6 },
    mobile: { prefixes: '+35191 +35196', digits: 7 },
    postcode: '9999-999',
    streets: portugueseStreets,
    currency: 'EUR',
    legalForms: ['Lda', 'S.A.', 'Lda.'],
    languages: 'portuguese, english',
    cities: `Lisboa|Lisbon|38.7223|-9.1393
Porto|Porto|41.1579|-8.6291
Braga|Braga|41.5454|-8.4265
Coimbra|Coimbra|40.2033|-8.4103`,
  },
  {
    iso2: 'IT',
    name: 'Italy',
    weight: 3,
    cultures: ['italian'],
    fixed: { prefixes: '+39061 +39021', digits: 7 },
    mobile: { prefixes: '+39320 +39333', digits: 7 },
    postcode: '99999',
    streets: italianStreets,
    currency: 'EUR',
    legalForms: ['S.r.l.', 'S.p.A.', 'Srl'],
    languages: 'italian, english',
    cities: `Roma|Lazio|41.9028|12.4964
Milano|Lombardy|45.4642|9.1900
Bergamo|Lombardy|45.6983|9.6773
Torino|Piedmont|45.0703|7.6869
Napoli|Campania|40.8518|14.2681
Bologna|Emilia-Romagna|44.4949|11.3426
Firenze|Tuscany|43.7696|11.2558
Forlì|Emilia-Romagna|44.2227|12.0407`,
  },
  {
    iso2: 'SE',
    name: 'Sweden',
    weight: 2,
    cultures: ['nordic', 'arabic', 'polish'],
    fixed: { prefixes: '+4686 +4687', digits: 6 },
    mobile: { prefixes: '+46701 +46702', digits: 6 },
    postcode: '999 99',
    streets: nordicStreets,
    currency: 'SEK',
    legalForms: ['AB', 'AB', 'AB (publ)'],
    languages: 'swedish, english',
    cities: `Stockholm|Stockholm|59.3293|18.0686
Göteborg|Västra Götaland|57.7089|11.9746
Malmö|Skåne|55.6050|13.0038
Uppsala|Uppsala|59.8586|17.6389`,
  },
  {
    iso2: 'NO',
    name: 'Norway',
    weight: 1,
    cultures: ['nordic'],
    fixed: { prefixes: '+4721 +4722', digits: 6 },
    mobile: { prefixes: '+4790 +4791', digits: 6 },
    postcode: '9999',
    streets: nordicStreets,
    currency: 'NOK',
    legalForms: ['AS', 'ASA'],
    languages: 'norwegian, english',
    cities: `Oslo|Oslo|59.9139|10.7522
Bergen|Vestland|60.3913|5.3221
Trondheim|Trøndelag|63.4305|10.3951
Tromsø|Troms|69.6492|18.9553`,
  },
  {
    iso2: 'DK',
    name: 'Denmark',
    weight: 1,
    cultures: ['nordic'],
    fixed: { prefixes: '+4527 +4528', digits: 6 },
    mobile: { prefixes: '+4526', digits: 6 },
    postcode: '9999',
    streets: nordicStreets,
    currency: 'DKK',
    legalForms: ['ApS', 'A/S'],
    languages: 'danish, english',
    cities: `København|Capital Region|55.6761|12.5683
Aarhus|Central Jutland|56.1629|10.2039
Odense|Southern Denmark|55.4038|10.4024`,
  },
  {
    iso2: 'FI',
    name: 'Finland',
    weight: 1,
    cultures: ['nordic'],
    fixed: { prefixes: '+35896', digits: 6 },
    mobile: { prefixes: '+358401 +358402', digits: 6 },
    postcode: '99999',
    streets: nordicStreets,
    currency: 'EUR',
    legalForms: ['Oy', 'Oyj'],
    languages: 'finnish, english',
    cities: `Helsinki|Uusimaa|60.1699|24.9384
Tampere|Pirkanmaa|61.4978|23.7610
Turku|Southwest Finland|60.4518|22.2666`,
  },
  {
    iso2: 'PL',
    name: 'Poland',
    weight: 3,
    cultures: ['polish', 'ukrainian'],
    fixed: { prefixes: '+48221 +48222', digits: 6 },
    mobile: { prefixes: '+48501 +48502 +48503', digits: 6 },
    postcode: '99-999',
    streets: slavicStreets,
    currency: 'PLN',
    legalForms: ['Sp. z o.o.', 'S.A.', 'sp. z o.o.'],
    languages: 'polish, english',
    cities: `Warszawa|Masovia|52.2297|21.0122
Kraków|Lesser Poland|50.0647|19.9450
Łódź|Łódź|51.7592|19.4560
Wrocław|Lower Silesia|51.1079|17.0385
Poznań|Greater Poland|52.4064|16.9252
Gdańsk|Pomerania|54.3520|18.6466`,
  },
  {
    iso2: 'CZ',
    name: 'Czechia',
    weight: 1,
    cultures: ['czech'],
    fixed: { prefixes: '+420221 +420222', digits: 6 },
    mobile: { prefixes: '+420601 +420602', digits: 6 },
    postcode: '999 99',
    streets: slavicStreets,
    currency: 'CZK',
    legalForms: ['s.r.o.', 'a.s.'],
    languages: 'czech, english',
    cities: `Praha|Prague|50.0755|14.4378
Brno|South Moravia|49.1951|16.6068
Ostrava|Moravia-Silesia|49.8209|18.2625
Plzeň|Plzeň|49.7384|13.3736`,
  },
  {
    iso2: 'TR',
    name: 'Türkiye',
    weight: 2,
    cultures: ['turkish'],
    fixed: { prefixes: '+902122 +902123', digits: 6 },
    mobile: { prefixes: '+90532 +90533', digits: 7 },
    postcode: '99999',
    streets: ['Atatürk Caddesi #', 'Cumhuriyet Caddesi #', 'İnönü Sokak #', 'Lale Sokak #'],
    currency: 'TRY',
    legalForms: ['A.Ş.', 'Ltd. Şti.'],
    languages: 'turkish',
    cities: `İstanbul|Istanbul|41.0082|28.9784
Ankara|Ankara|39.9334|32.8597
İzmir|Izmir|38.4237|27.1428
Bursa|Bursa|40.1885|29.0610`,
  },
  {
    iso2: 'GR',
    name: 'Greece',
    weight: 1,
    cultures: ['greek'],
    fixed: { prefixes: '+30211 +30210', digits: 7 },
    mobile: { prefixes: '+30693 +30694', digits: 7 },
    postcode: '999 99',
    streets: ['Ermou #', 'Athinas #', 'Egnatia #', 'Patision #'],
    currency: 'EUR',
    legalForms: ['A.E.', 'E.P.E.'],
    languages: 'greek, english',
    cities: `Athens|Attica|37.9838|23.7275
Piraeus|Attica|37.9430|23.6470
Thessaloniki|Central Macedonia|40.6401|22.9444
Patras|Western Greece|38.2466|21.7346`,
  },
  {
    iso2: 'UA',
    name: 'Ukraine',
    weight: 1,
    cultures: ['ukrainian', 'russian'],
    fixed: { prefixes: '+38044', digits: 7 },
    mobile: { prefixes: '+38067 +38050', digits: 7 },
    postcode: '99999',
    streets: slavicStreets,
    currency: 'UAH',
    legalForms: ['LLC', 'TOV'],
    languages: 'ukrainian, english',
    cities: `Kyiv|Kyiv City|50.4501|30.5234
Lviv|Lviv Oblast|49.8397|24.0297
Odesa|Odesa Oblast|46.4825|30.7233
Kharkiv|Kharkiv Oblast|49.9935|36.2304`,
  },
  {
    iso2: 'AE',
    name: 'United Arab Emirates',
    weight: 1,
    cultures: ['arabic', 'indian', 'english'],
    fixed: { prefixes: '+97142 +97143', digits: 6 },
    mobile: { prefixes: '+97150', digits: 7 },
    postcode: '',
    streets: ['# Sheikh Road', '# Marina Walk', '# Al Wasl Road', '# Corniche Street'],
    currency: 'AED',
    legalForms: ['LLC', 'FZ-LLC', 'FZE'],
    languages: 'arabic, english',
    cities: `Dubai|Dubai|25.2048|55.2708
Abu Dhabi|Abu Dhabi|24.4539|54.3773
Sharjah|Sharjah|25.3463|55.4209`,
  },
  {
    iso2: 'NG',
    name: 'Nigeria',
    weight: 1,
    cultures: ['nigerian'],
    fixed: { prefixes: '+234805', digits: 7 },
    mobile: { prefixes: '+234803', digits: 7 },
    postcode: '999999',
    streets: plainStreets,
    currency: 'NGN',
    legalForms: ['Ltd', 'Plc'],
    languages: 'english',
    cities: `Lagos|Lagos State|6.5244|3.3792
Abuja|Federal Capital Territory|9.0765|7.3986
Ibadan|Oyo State|7.3775|3.9470`,
  },
  {
    iso2: 'SG',
    name: 'Singapore',
    weight: 1,
    cultures: ['chinese', 'indian', 'english'],
    fixed: { prefixes: '+6562 +6563', digits: 6 },
    mobile: { prefixes: '+6581 +6582', digits: 6 },
    postcode: '999999',
    streets: plainStreets,
    currency: 'SGD',
    legalForms: ['Pte Ltd', 'Pte. Ltd.'],
    languages: 'english, mandarin',
    cities: 'Singapore|Singapore|1.3521|103.8198',
  },
  {
    iso2: 'JP',
    name: 'Japan',
    weight: 3,
    cultures: ['japanese'],
    fixed: { prefixes: '+81332 +81333', digits: 6 },
    mobile: { prefixes: '+819010 +819011', digits: 6 },
    postcode: '999-9999',
    streets: ['#-chome Marunouchi', '#-chome Honmachi', '#-chome Sakae', '#-chome Chuo'],
    currency: 'JPY',
    legalForms: ['K.K.', 'G.K.', 'Co., Ltd.'],
    languages: 'japanese',
    cities: `Tokyo|Tokyo|35.6762|139.6503
Osaka|Osaka|34.6937|135.5023
Nagoya|Aichi|35.1815|136.9066
Fukuoka|Fukuoka|33.5904|130.4017
Sapporo|Hokkaido|43.0618|141.3545`,
  },
  {
    iso2: 'KR',
    name: 'South Korea',
    weight: 1,
    cultures: ['korean'],
    fixed: { prefixes: '+8223 +8225', digits: 6 },
    mobile: { prefixes: '+821022 +821033', digits: 6 },
    postcode: '99999',
    streets: ['# Teheran-ro', '# Sejong-daero', '# Jungang-daero', '# Gangnam-daero'],
    currency: 'KRW',
    legalForms: ['Co., Ltd.', 'Inc.'],
    languages: 'korean',
    cities: `Seoul|Seoul|37.5665|126.9780
Busan|Busan|35.1796|129.0756
Incheon|Incheon|37.4563|126.7052`,
  },
  {
    iso2: 'TW',
    name: 'Taiwan',
    weight: 1,
    cultures: ['chinese'],
    fixed: { prefixes: '+88622', digits: 7 },
    mobile: { prefixes: '+886912 +886913', digits: 6 },
    postcode: '999',
    streets: ['# Zhongshan Road', '# Minquan Road', '# Fuxing Road'],
    currency: 'TWD',
    legalForms: ['Co., Ltd.', 'Inc.'],
    languages: 'mandarin, english',
    cities: `Taipei|Taipei|25.0330|121.5654
Kaohsiung|Kaohsiung|22.6273|120.3014
Taichung|Taichung|24.1477|120.6736`,
  },
  {
    iso2: 'VN',
    name: 'Vietnam',
    weight: 1,
    cultures: ['vietnamese'],
    fixed: { prefixes: '+842838 +842839', digits: 6 },
    mobile: { prefixes: '+8490 +8491', digits: 7 },
    postcode: '999999',
    streets: ['# Lê Lợi', '# Nguyễn Huệ', '# Trần Hưng Đạo'],
    currency: 'VND',
    legalForms: ['Co., Ltd.', 'JSC'],
    languages: 'vietnamese, english',
    cities: `Hồ Chí Minh|Ho Chi Minh City|10.8231|106.6297
Hà Nội|Hanoi|21.0278|105.8342
Đà Nẵng|Da Nang|16.0544|108.2022`,
  },
];
