/**
 * Words of work: industries, professions with their skills, levels, and the parts of company
 * names.
 */

/** Names of industries; the id of an industry is its place, from 1. */
export const industries: readonly string[] = `Accounting|Agriculture|Airlines and Aviation|Animation
Apparel and Fashion|Architecture and Planning|Automotive|Banking|Biotechnology|Broadcast Media
Building Materials|Business Supplies and Equipment|Chemicals|Civil Engineering
Commercial Real Estate
Computer and Network Security|Computer Games|Computer Hardware|Computer Software|Construction
Consumer Electronics|Consumer Goods|Cosmetics|Dairy|Defence and Space|Design|E-Learning
Education Management|Electrical Manufacturing|Entertainment|Environmental Services|Events Services
Facilities Services|Farming|Financial Services|Fine Art|Fishery|Food and Beverages|Food Production
Fundraising|Furniture|Glass and Ceramics|Government Administration|Graphic Design|Health and Fitness
Higher Education|Hospital and Health Care|Hospitality|Human Resources|Import and Export
Industrial Automation|Information Services|Information Technology and Services|Insurance
International Trade and Development|Internet|Investment Management|Legal Services|Leisure and Travel
Libraries|Logistics and Supply Chain|Luxury Goods|Machinery|Management Consulting|Maritime
Market Research|Marketing and Advertising|Mechanical Engineering|Media Production|Medical Devices
Mining and Metals|Museums|Music|Nanotechnology|Non-Profit Organisation Management|Oil and Energy
Outsourcing|Packaging and Containers|Paper and Forest Products|Pharmaceuticals|Photography|Plastics
Primary and Secondary Education|Printing|Professional Training|Public Relations|Publishing|Railways
Real Estate|Renewables and Environment|Research|Restaurants|Retail|Security and Investigations
Semiconductors|Shipbuilding|Sporting Goods|Staffing and Recruiting|Supermarkets|Telecommunications
Textiles|Tobacco|Translation and Localisation|Transportation|Utilities|Venture Capital|Veterinary
Warehousing|Wholesale|Wine and Spirits|Wireless|Writing and Editing`.split(/[|\n]/);

export interface ProfessionWords {
  name: string;
  /** Job title without a level: `Software Engineer`. */
  title: string;
  skills: readonly string[];
}

function profession(name: string, title: string, skills: string): ProfessionWords {
  return { name, title, skills: skills.replace(/\s+/g, ' ').split(', ') };
}

export const professions: readonly ProfessionWords[] = [
  profession(
    'Software Engineering',
    'Software Engineer',
    `python, java, typescript, javascript, sql, go, rust, docker, kubernetes, linux, git, rest
    apis, postgresql, testing`,
  ),
  profession(
    'Data Science',
    'Data Scientist',
    `python, r, machine learning, statistics, sql, pandas, data visualization, deep learning,
    spark, experiments`,
  ),
  profession(
    'Data Engineering',
    'Data Engineer',
    'sql, python, airflow, spark, data modeling, etl, kafka, data warehousing, cloud storage',
  ),
  profession(
    'IT Operations',
    'Systems Administrator',
    `linux, windows server, networking, virtualization, active directory, backup, monitoring,
    shell scripting`,
  ),
  profession(
    'Information Security',
    'Security Analyst',
    `penetration testing, incident response, siem, risk assessment, iso 27001, firewalls,
    cryptography`,
  ),
  profession(
    'Product Management',
    'Product Manager',
    `roadmaps, agile, user research, scrum, analytics, a/b testing, stakeholder management,
    go-to-market strategy`,
  ),
  profession(
    'Design',
    'Product Designer',
    `user interface design, wireframing, prototyping, typography, illustration, user testing,
    branding`,
  ),
  profession(
    'Sales',
    'Account Executive',
    `negotiation, crm, lead generation, cold calling, account management, forecasting, contracts,
    b2b`,
  ),
  profession(
    'Business Development',
    'Business Development Manager',
    `partnerships, market research, negotiation, strategy, proposals, networking, new business
    development`,
  ),
  profession(
    'Marketing',
    'Marketing Manager',
    `content marketing, seo, copywriting, e-mail marketing, social media, campaign management,
    analytics, branding`,
  ),
  profession(
    'Communications',
    'Communications Manager',
    `public relations, press releases, editing, crisis communication, event management,
    storytelling`,
  ),
  profession(
    'Finance',
    'Financial Analyst',
    `financial modeling, budgeting, forecasting, excel, valuation, reporting, ifrs, variance
    analysis`,
  ),
  profession(
    'Accounting',
    'Accountant',
    `bookkeeping, accounts payable, accounts receivable, tax, auditing, payroll, reconciliation,
    gaap`,
  ),
  profession(
    'Human Resources',
    'HR Manager',
    `recruiting, onboarding, employee relations, payroll, performance management, labour law,
    training`,
  ),
  profession(
    'Recruiting',
    'Recruiter',
    `sourcing, interviewing, applicant tracking systems, employer branding, executive search,
    screening`,
  ),
  profession(
    'Legal',
    'Legal Counsel',
    `contract law, compliance, litigation, intellectual property, data protection, corporate law,
    drafting`,
  ),
  profession(
    'Operations',
    'Operations Manager',
    `process improvement, lean, kpis, planning, team leadership, vendor management, six sigma,
    budgeting`,
  ),
  profession(
    'Logistics',
    'Logistics Coordinator',
    `supply chain management, warehousing, customs, transportation, inventory management, sap,
    freight`,
  ),
  profession(
    'Purchasing',
    'Purchasing Manager',
    `procurement, supplier negotiation, sourcing, cost reduction, contracts, inventory
    management, sap`,
  ),
  profession(
    'Mechanical Engineering',
    'Mechanical Engineer',
    `cad, solidworks, finite element analysis, product design, manufacturing, thermodynamics,
    tolerancing`,
  ),
  profession(
    'Electrical Engineering',
    'Electrical Engineer',
    `circuit design, plc, embedded systems, power electronics, autocad, testing, automation,
    microcontrollers`,
  ),
  profession(
    'Civil Engineering',
    'Civil Engineer',
    `autocad, structural analysis, site supervision, project planning, surveying, concrete,
    permits`,
  ),
  profession(
    'Quality',
    'Quality Manager',
    'iso 9001, auditing, root cause analysis, six sigma, inspection, capa, documentation',
  ),
  profession(
    'Customer Support',
    'Customer Success Manager',
    'customer service, onboarding, ticketing, retention, crm, training, troubleshooting',
  ),
  profession(
    'Medicine',
    'Physician',
    `patient care, diagnosis, clinical research, surgery, electronic health records, internal
    medicine`,
  ),
  profession(
    'Nursing',
    'Nurse',
    `patient care, triage, medication administration, wound care, emergency care, patient
    education`,
  ),
  profession(
    'Education',
    'Teacher',
    `curriculum development, classroom management, lesson planning, mentoring, assessment, public
    speaking`,
  ),
  profession(
    'Research',
    'Researcher',
    `scientific writing, data analysis, laboratory techniques, statistics, grant writing, peer
    review`,
  ),
  profession(
    'Project Management',
    'Project Manager',
    `prince2, pmp, scheduling, risk management, agile, budgeting, stakeholder management,
    reporting`,
  ),
  profession(
    'Consulting',
    'Consultant',
    `strategy, change management, business analysis, workshops, presentations, due diligence,
    modelling`,
  ),
];

export interface LevelWords {
  /** `#` is the profession's title, `@` its name. */
  title: string;
  /** Share of people, relative to the sum of all weights. */
  weight: number;
  /** Years of experience and yearly salary (in any currency) at the start of the level's range. */
  yearsMin: number;
  salaryMin: number;
}

export const levels: readonly LevelWords[] = [
  { title: '# Intern', weight: 4, yearsMin: 0, salaryMin: 18_000 },
  { title: 'Junior #', weight: 12, yearsMin: 1, salaryMin: 30_000 },
  { title: '#', weight: 34, yearsMin: 3, salaryMin: 42_000 },
  { title: 'Senior #', weight: 24, yearsMin: 7, salaryMin: 58_000 },
  { title: 'Lead #', weight: 7, yearsMin: 9, salaryMin: 70_000 },
  { title: 'Head of @', weight: 7, yearsMin: 11, salaryMin: 85_000 },
  { title: '@ Director', weight: 6, yearsMin: 13, salaryMin: 100_000 },
  { title: 'Vice President, @', weight: 4, yearsMin: 15, salaryMin: 130_000 },
  { title: 'Chief @ Officer', weight: 2, yearsMin: 18, salaryMin: 170_000 },
];

/** Invented brands combine one of each: `Nor` + `da` + `lex`. No list of real companies was used. */
export const brandBeginnings: readonly string[] =
  `Al Am Ar Ax Bal Bel Bor Bren Cal Cas Cor Cron Dal Del Dor Drax El Em Er Fal Fen Fir Gal
  Gen Gor Hal Hel Hor Il Im Jor Kal Kel Kor Lan Lem Lor Mal Mer Mor Nal Nor Nov Ol Or Pal
  Per Pol Quan Ral Ren Sal Sel Sil Sol Tal Ter Tor Ul Val Ver Vol Wen Zor`.split(/\s+/);
export const brandMiddles: readonly string[] =
  `a e i o u ba be da de di do fa ga go ka ke la le lo ma me na ne ra re ri ro sa se ta te
  va`.split(/\s+/);
export const brandEndings: readonly string[] =
  `bis bor cus dan dex dor fex fin gan gis gon kar ken kos lan lex lin lis lon lux mar men
  mis mon nar net nex nis nor pex pol quin ran ren rex ris ron rus san sen sis son sor tan
  tek ten tex tis ton tor tra tron val van ver vex via vis von wen xan xis zan zen zon`.split(
    /\s+/,
  );

/** Second words of company names; none of them is a legal form. */
export const sectors: readonly string[] =
  `Advisory Analytics Automation Bakeries Biotech Capital Catering Ceramics Chemicals Cloud
  Components Construction Consulting Controls Data Design Diagnostics Digital Dynamics
  Electronics Energy Engineering Estates Farms Fashion Films Finance Foods Freight Games
  Glass Health Homes Hotels Insurance Interiors Labs Logistics Machines Marine Media
  Metals Mobility Motors Networks Optics Outdoors Packaging Partners Pharma Plastics Power
  Press Printing Properties Robotics Security Software Solutions Sports Steel Studios
  Systems Technologies Textiles Tools Travel Ventures Water Works`.split(/\s+/);

/** Mailboxes that several people of a company share. */
export const sharedMailboxes: readonly string[] = [
  'info',
  'office',
  'sales',
  'contact',
  'team',
  'hello',
];

/**
 * Domains of the private mailboxes of invented people: reserved names (RFC 2606), so that no one gets
 * mail.
 */
export const privateMailDomains: readonly string[] = [
  'freepost.example',
  'inbox-mail.example',
  'letterbox.example',
  'mailnest.example',
  'postkasten.example',
];
